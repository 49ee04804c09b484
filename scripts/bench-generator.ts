import { DEFAULTS, PROFILES, type Profile } from '#test/generator/settings.ts'

/**
 * How fast the generator answers bulk calls, and what CPU it takes: `scripts/bun scripts/bench-generator.ts`. The node
 * runs as a process of its own; the client only takes the bytes in.
 */
const RANGE = 101
const IN_FLIGHT = 4
/** Blocks before which nothing is counted: the just-in-time compiler's, and the dawn's. */
const WARM = 20_000
const COUNTED: Readonly<Record<Profile, number>> = { sparse: 400_000, mixed: 60_000, busy: 6_000 }
const SETTINGS = ['--holders', '2000', '--voters', '500', '--cycle', '8192', '--blocks', '100000000']

type Cpu = { readonly user_seconds: number; readonly system_seconds: number }
const secondsOf = async (url: string): Promise<number> => {
  const { user_seconds, system_seconds } = (await (await fetch(`${url}/cpu`)).json()) as Cpu
  return user_seconds + system_seconds
}

const post = async (url: string, path: string, body: object): Promise<string> =>
  (await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body) })).text()

/** Takes blocks `from` … `to` as a loader does; letters, and transactions beside base ones. */
const take = async (url: string, from: number, to: number) => {
  let [letters, transactions, next] = [0, 0, from]
  const worker = async (): Promise<void> => {
    while (next < to) {
      const first = next
      const last = Math.min(to, first + RANGE - 1)
      next = last + 1
      const [heads, lists] = await Promise.all([
        post(url, '/getBlockHeaderByRange', { start: first, end: last + 1 }),
        post(url, '/getBlockTxsByContract', { from_block: first, to_block: last }),
      ])
      letters += heads.length + lists.length
      transactions += lists.split('"referred_tx"').length - 1
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker))
  return { letters, transactions }
}

const measure = async (profile: Profile): Promise<void> => {
  const node = Bun.spawn(
    [process.execPath, `${import.meta.dir}/../test/generator/main.ts`, '--profile', profile, ...SETTINGS],
    {
      stdout: 'pipe',
    },
  )
  try {
    const reader = node.stdout.getReader()
    const url = /^http:\S+/.exec(new TextDecoder().decode((await reader.read()).value))?.[0] ?? ''
    const warm = profile === 'sparse' ? WARM : WARM / 10
    await take(url, 1, warm)
    const [cpu, at] = [await secondsOf(url), Bun.nanoseconds()]
    const count = COUNTED[profile]
    const { letters, transactions } = await take(url, warm + 1, warm + count)
    const wall = (Bun.nanoseconds() - at) / 1e9
    const busy = (await secondsOf(url)) - cpu
    const line = {
      profile,
      blocks: count,
      transactions,
      megabytes: Math.round(letters / 1e6),
      wall_seconds: wall.toFixed(2),
      node_cpu_seconds: busy.toFixed(2),
      blocks_per_second: Math.round(count / wall),
      blocks_per_cpu_second: Math.round(count / busy),
      transactions_per_cpu_second: Math.round(transactions / busy),
    }
    process.stdout.write(`${JSON.stringify(line)}\n`)
  } finally {
    node.kill()
    await node.exited
  }
}

process.stdout.write(
  `${JSON.stringify({ bun: Bun.version, seed: DEFAULTS.seed, range: RANGE, in_flight: IN_FLIGHT })}\n`,
)
for (const profile of PROFILES) await measure(profile)
