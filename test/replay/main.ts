import { parseArgs } from 'node:util'
import { Failure } from '#failure/failure.ts'
import { readAddress } from '../support/nodes/rpc/routes.ts'
import { runNode } from '../support/nodes/rpc/run-node.ts'
import { openRecording } from './recording.ts'
import { serveReplay } from './serve.ts'

const HELP = `usage: scripts/replay DIR [--listen HOST:PORT] [--to HEIGHT]

Serves a recorded chain (a folder with blocks.ndjson.gz and rpc.ndjson.gz, such as test/chain/devnet) with a node's RPC,
until it is stopped. The only line on stdout is the URL.

  --listen HOST:PORT  default 127.0.0.1:30001, where a node listens; port 0: any free one
  --to HEIGHT         last block that is shown; default: the last recorded one
  --help              this text
`

await runNode('replay', async words => {
  const text = { type: 'string' as const }
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: { help: { type: 'boolean', short: 'h' }, listen: text, to: text },
  })
  if (values.help === true) return HELP
  const [folder, ...more] = positionals
  if (folder === undefined || more.length > 0)
    throw new Failure('usage', 'Give one folder with a recorded chain, such as test/chain/devnet.')
  const { listen = '127.0.0.1:30001', to } = values
  const recording = await openRecording(folder)
  const node = serveReplay({ recording, ...readAddress(listen), ...(to === undefined ? {} : { to: Number(to) }) })
  return { said: node.url, stop: node.stop }
})
