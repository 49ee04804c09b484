import { parseArgs } from 'node:util'
import { Failure } from '#failure/failure.ts'
import { runNode } from '../support/nodes/rpc/run-node.ts'
import { readAddress } from '../support/nodes/rpc/serve-calls.ts'
import { openRecording } from './recording.ts'
import { serveReplay } from './serve.ts'

const HELP = `usage: scripts/replay DIR [--listen HOST:PORT] [--to HEIGHT]

Serves a recorded chain (a folder with blocks.ndjson.gz and rpc.ndjson.gz, such as test/chain/devnet) with a node's RPC,
until it is stopped. The only line on stdout is the URL.

  --listen HOST:PORT  default 127.0.0.1:30001, where a node listens; port 0: any free one
  --to HEIGHT         last block that is shown; default: the last recorded one
  --help              this text
`

type Options = {
  readonly folder: string
  readonly host: string
  readonly port: number
  readonly to?: number
}

/** Options of the command line. undefined: only help is requested. Throws Failure 'usage', or an error of parseArgs. */
export function readOptions(words: readonly string[]): Options | undefined {
  const text = { type: 'string' as const }
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: { help: { type: 'boolean', short: 'h' }, listen: text, to: text },
  })
  if (values.help === true) return undefined
  const [folder, ...more] = positionals
  if (folder === undefined || more.length > 0)
    throw new Failure('usage', 'Give one folder with a recorded chain, such as test/chain/devnet.')
  const { listen = '127.0.0.1:30001', to } = values
  if (to !== undefined && !/^[0-9]{1,15}$/.test(to)) throw new Failure('usage', `--to ${to} is not a whole number.`)
  return { folder, ...readAddress(listen), ...(to === undefined ? {} : { to: Number(to) }) }
}

if (import.meta.main)
  await runNode('replay', async words => {
    const options = readOptions(words)
    if (options === undefined) return HELP
    const { folder, ...rest } = options
    const node = serveReplay({ recording: await openRecording(folder), ...rest })
    return { said: node.url, stop: node.stop }
  })
