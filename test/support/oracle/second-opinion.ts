import { serviceOn } from '../processes/service.ts'
import { loadFrom, temporarySqlite } from '../stores/loading.ts'
import type { Testimony } from './witness.ts'

/**
 * Some of a witness's answers that differ, in any character, from those of the other store when it is loaded
 * undisturbed to the height of the answer. `url` is the node, which must still be at the same height.
 */
export async function secondOpinion(url: string, { answers }: Pick<Testimony, 'answers'>): Promise<readonly string[]> {
  const other = await temporarySqlite()
  const service = serviceOn(other.store)
  const wrong: string[] = []
  try {
    for (const [height, texts] of [...answers].toSorted(([a], [b]) => a - b)) {
      await loadFrom(url, other.store, { to: height })
      for (const [path, text] of texts) {
        const response = await service.ask(path, { headers: { 'x-api-key': service.key } })
        const expected = await response.text()
        if (expected !== text) wrong.push(`${path} at height ${height}: ${text}; expected ${expected}`)
        if (wrong.length === 5) return wrong
      }
    }
    return wrong
  } finally {
    await other.destroy()
  }
}
