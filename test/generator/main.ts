import { parseArgs } from 'node:util'
import { Failure } from '#failure/failure.ts'
import { readAddress } from '../support/nodes/rpc/routes.ts'
import { runNode } from '../support/nodes/rpc/run-node.ts'
import { type GeneratedOptions, serveGenerated } from './serve.ts'
import { DEFAULTS, PROFILES } from './settings.ts'

const HELP = `usage: scripts/generate-chain [options]

Serves a generated chain with a node's RPC, until it is stopped. The same options give the same chain, byte for byte.

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

/** Options of the command line; undefined: help was requested. Throws Failure 'usage', or an error of parseArgs. */
export function readOptions(words: readonly string[]): GeneratedOptions | undefined {
  const text = { type: 'string' } as const
  const { profile: _, ...numbers } = DEFAULTS
  const own = { help: { type: 'boolean', short: 'h' }, listen: text, profile: text } as const
  const options = { ...Object.fromEntries(Object.keys(numbers).map(name => [name, text])), ...own }
  const { values } = parseArgs({ args: [...words], options })
  const { help, listen = '127.0.0.1:0', profile: named = DEFAULTS.profile, ...given } = values
  if (help === true) return undefined
  const profile = PROFILES.find(known => known === named)
  if (profile === undefined) throw new Failure('usage', `--profile ${named} is none of ${PROFILES.join(', ')}.`)
  const read = Object.entries(given).map(([name, value]) => {
    if (!/^[0-9]{1,15}$/.test(String(value))) throw new Failure('usage', `--${name} ${value} is not a whole number.`)
    return [name, Number(value)] as const
  })
  return { ...Object.fromEntries(read), profile, ...readAddress(listen) }
}

if (import.meta.main)
  await runNode('generate-chain', async words => {
    const options = readOptions(words)
    if (options === undefined) return HELP
    const node = serveGenerated(options)
    const { dawn, schedule } = node.chain.world
    return {
      said: `${node.url} (blocks before the first cycle: ${dawn}, transactions of a cycle: ${schedule.count})`,
      stop: node.stop,
    }
  })
