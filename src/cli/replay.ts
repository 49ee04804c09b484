import { openRecording } from '#replay/recording.ts'
import { serveReplay } from '#replay/serve.ts'
import type { Command } from './command.ts'
import { listening } from './serving.ts'
import { LOGGING } from './setting-groups.ts'
import { stopped } from './stop.ts'

/** Where a node of this chain serves its HTTP RPC by default. */
const NODE_ADDRESS = { host: '127.0.0.1', port: 30_001 }

export const replay: Command = {
  name: 'replay',
  words: ['DIR'],
  summary: 'serve a recorded chain as a node',
  about: [
    `Serves a recorded chain (a folder with blocks.ndjson.gz and rpc.ndjson.gz) through the RPC interface of a node, up to its last block or --to. Listens on ${NODE_ADDRESS.host}:${NODE_ADDRESS.port} unless --listen is given. The only line on stdout is the URL.`,
  ],
  settings: ['listen', 'to', ...LOGGING],
  examples: [
    'iostlens replay test/chain/devnet',
    'iostlens replay test/chain/devnet --listen 127.0.0.1:0 --to 200',
  ],
  run: async ({ values, origins, words: [folder = ''], log, out, signal }) => {
    const recording = await openRecording(folder)
    const address = origins.get('listen') === 'flag' ? values.listen : NODE_ADDRESS
    const { host, port } = address
    const node = listening(address, () =>
      serveReplay({ recording, host, port, ...(values.to === undefined ? {} : { to: values.to }) }),
    )
    out(node.url)
    log('info', 'Serving a recorded chain.', { url: node.url, height: node.height() })
    await stopped(signal)
    await node.stop()
    return 0
  },
}
