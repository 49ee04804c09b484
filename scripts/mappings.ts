import { historyIndices, stateIndices } from '#indices/registry.ts'
import {
  type IndexShape,
  journalShape,
  keysShape,
  metaShape,
  shapeOf,
} from '#store/elastic/schema/mappings.ts'

/** Where settings and mapping of every index stand, so that a change of theirs is seen in review; nothing else is there. */
export const FOLDER = 'indices/mappings'

/** The files of that folder: path from the project's root → text. */
export const mappingFiles = (): ReadonlyMap<string, string> => {
  const shapes: readonly (readonly [name: string, shape: IndexShape])[] = [
    ...[...historyIndices, ...stateIndices].map(index => [index.name, shapeOf(index)] as const),
    ['meta', metaShape],
    ['journal', journalShape],
    ['keys', keysShape],
  ]
  return new Map(
    shapes.map(([name, shape]) => [`${FOLDER}/${name}.json`, `${JSON.stringify(shape, null, 2)}\n`]),
  )
}
