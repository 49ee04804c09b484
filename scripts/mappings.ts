import { historyIndices } from '#indices/registry.ts'
import {
  type IndexShape,
  keysShape,
  metaShape,
  stateShapes,
  toShape,
  usageShape,
} from '#store/elastic/schema/mappings.ts'

/**
 * Folder with the settings and mapping of every index, so that changes are seen in review. It contains nothing else.
 */
export const FOLDER = 'indices/mappings'

/** The files of that folder: text by path from the project's root. */
export function mappingFiles(): ReadonlyMap<string, string> {
  const shapes: readonly (readonly [name: string, shape: IndexShape])[] = [
    ...historyIndices.map(index => [index.name, toShape(index)] as const),
    ...Object.entries(stateShapes),
    ['meta', metaShape],
    ['keys', keysShape],
    ['usage', usageShape],
  ]
  return new Map(shapes.map(([name, shape]) => [`${FOLDER}/${name}.json`, `${JSON.stringify(shape, null, 2)}\n`]))
}
