import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../root.ts'

/**
 * The files that determine what is stored of the recorded chain, by the layer table of src/README.md. A
 * change of an action or of a reference text needs no new load. Bun's glob patterns do not support
 * alternatives that contain a slash.
 */
const PATTERNS = [
  'src/{failure,time,chain,derive,node,store,load}/**/*',
  'indices/**/*',
  'test/{support,replay,chain}/**/*',
  '{bun.lock,package.json}',
]

const isTest = (file: string): boolean => file.endsWith('.test.ts')

/** SHA-256 of everything that determines what is stored of the recorded chain: sources, recording, packages and Bun. */
export function edition(root = ROOT): string {
  const hash = new Bun.CryptoHasher('sha256')
  const add = (part: string | Uint8Array): void => {
    const bytes = Buffer.from(part)
    hash.update(`${bytes.length}\n`).update(bytes)
  }
  add(Bun.version_with_sha)
  const files = PATTERNS.flatMap(pattern => [...new Bun.Glob(pattern).scanSync({ cwd: root, dot: true })])
  for (const file of files.filter(name => !isTest(name)).sort()) {
    add(file)
    add(readFileSync(join(root, file)))
  }
  return hash.digest('hex')
}
