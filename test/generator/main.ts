import { parseArgs } from 'node:util'
import { Failure } from '#failure/failure.ts'
import { runNode } from '../support/nodes/rpc/run-node.ts'
import { readAddress } from '../support/nodes/rpc/serve-calls.ts'
import { cpuText, type GeneratedOptions, serveGenerated } from './serve.ts'
import { DEFAULTS, PROFILES, type Profile, type Settings } from './settings.ts'

const HELP = `usage: scripts/generate-chain [options]

Serves a generated chain with a node's RPC, until it is stopped. The same options give the same chain, byte for byte.
At its end it prints the seconds of CPU it took; GET /cpu tells them at any time.

  --listen HOST:PORT  default 127.0.0.1:0 (any free port; the URL is printed)
  --seed N            default ${DEFAULTS.seed}
  --profile P         ${PROFILES.join(', ')}; default ${DEFAULTS.profile}
  --blocks N          height of the last block, default ${DEFAULTS.blocks}
  --holders N         accounts, all of them holders of the token coin; default ${DEFAULTS.holders}
  --voters N          voters of producer000, default ${DEFAULTS.voters}
  --producers N       producers taking turns, default ${DEFAULTS.producers}
  --cycle N           blocks after which all that moved has come back, default ${DEFAULTS.cycle}
  --inflation N       blocks from one inflation to the next, default ${DEFAULTS.inflation}
  --help              this text
`

const NUMBERS = ['seed', 'blocks', 'holders', 'voters', 'producers', 'cycle', 'inflation'] as const

function numberOf(name: string, text: string): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw new Failure('usage', `--${name} ${text} is not a whole number.`)
  return Number(text)
}

function profileOf(text: string): Profile {
  const profile = PROFILES.find(known => known === text)
  if (profile === undefined) throw new Failure('usage', `--profile ${text} is none of ${PROFILES.join(', ')}.`)
  return profile
}

/** Options of the command line; undefined: help was requested. Throws Failure 'usage'. */
export function readOptions(words: readonly string[]): GeneratedOptions | undefined {
  const texts = [...NUMBERS, 'listen', 'profile'] as const
  let values: Record<string, string | boolean | undefined>
  try {
    values = parseArgs({
      args: [...words],
      options: {
        help: { type: 'boolean', short: 'h' },
        ...Object.fromEntries(texts.map(name => [name, { type: 'string' as const }])),
      },
    }).values
  } catch (cause) {
    throw new Failure('usage', cause instanceof Error ? cause.message : String(cause), { cause })
  }
  if (values['help'] === true) return undefined
  const given = (name: string): string | undefined => (typeof values[name] === 'string' ? values[name] : undefined)
  const numbers: { -readonly [K in (typeof NUMBERS)[number]]?: Settings[K] } = {}
  for (const name of NUMBERS) {
    const text = given(name)
    if (text !== undefined) numbers[name] = numberOf(name, text)
  }
  return {
    ...numbers,
    profile: profileOf(given('profile') ?? DEFAULTS.profile),
    ...readAddress(given('listen') ?? '127.0.0.1:0'),
  }
}

if (import.meta.main)
  await runNode('generate-chain', async words => {
    const options = readOptions(words)
    if (options === undefined) return HELP
    const node = serveGenerated(options)
    const { dawn, schedule } = node.chain.world
    return {
      said: `${node.url} (blocks before the first cycle: ${dawn}, transactions of a cycle: ${schedule.count})`,
      stop: async () => {
        await node.stop()
        return `cpu ${cpuText()}`
      },
    }
  })
