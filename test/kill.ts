import { join } from 'node:path'
import type { Place } from './place.ts'

/** What the loaders load: a node's chain up to a height, in batches of at most so many documents. */
type Aim = { readonly url: string; readonly to: number; readonly documents: number }

/**
 * Kills loaders until one comes to its end; how many were killed. Each is killed a random moment after it has begun, or
 * after a few batches, so that every step of a commit is met sooner or later.
 */
export const killUntilLoaded = async (
  place: Place,
  { url, to, documents }: Aim,
  random: () => number,
): Promise<number> => {
  const program = join(import.meta.dir, 'load-process.ts')
  const args = [url, ...place.args, String(to), String(documents)]
  for (let kills = 0; ; kills++) {
    const loader = Bun.spawn([process.execPath, program, ...args], { stdout: 'pipe', stderr: 'pipe' })
    const lines = Math.floor(random() * 5)
    const killSoon = () => setTimeout(() => loader.kill('SIGKILL'), random() * (lines === 0 ? 500 : 60))
    let timer = lines === 0 ? killSoon() : undefined
    let seen = 0
    for await (const chunk of loader.stdout) {
      seen += chunk.filter(byte => byte === 10).length
      if (seen >= lines && timer === undefined) timer = killSoon()
    }
    const code = await loader.exited
    clearTimeout(timer)
    if (code === 0) return kills
    if (loader.signalCode !== 'SIGKILL') throw new Error(await new Response(loader.stderr).text())
  }
}
