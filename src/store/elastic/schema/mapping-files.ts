import { historyIndices, stateIndices } from '#indices/registry.ts'
import { type IndexShape, journalShape, keysShape, metaShape, shapeOf } from './mappings.ts'

/** Settings and mapping of every index by its name without prefix: what reviewers and operators read. */
const indexShapes = (): ReadonlyMap<string, IndexShape> =>
  new Map([
    ...[...historyIndices, ...stateIndices].map(index => [index.name, shapeOf(index)] as const),
    ['meta', metaShape],
    ['journal', journalShape],
    ['keys', keysShape],
  ])

/** The same as files below `indices/mappings`: path from the project's root → text. */
export const mappingFiles = (): ReadonlyMap<string, string> =>
  new Map(
    [...indexShapes()].map(([name, shape]) => [
      `indices/mappings/${name}.json`,
      `${JSON.stringify(shape, null, 2)}\n`,
    ]),
  )
