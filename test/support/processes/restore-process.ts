import { createNode } from '#node/archive-node.ts'
import { restoreFile } from '#transfer/restore.ts'

/** restore-process.ts NODE FILE PATH KILL: restores a file, and dies at its progress report KILL (0: never). */
const [url = '', file = '', path = '', kill = ''] = process.argv.slice(2)
let told = 0
const node = createNode({ urls: [url] })
await restoreFile(file, path, {
  node,
  signal: new AbortController().signal,
  onProgress: () => {
    told += 1
    if (told === Number(kill)) process.kill(process.pid, 'SIGKILL')
  },
})
node.close()
