import { mappingFiles } from '#store/elastic/schema/mapping-files.ts'

/**
 * Files that are made from code and kept in the repository, so that a change of theirs is seen in review. Each
 * generator gives path from the project's root → text, and owns the folders it writes to.
 */
export const generators: readonly {
  readonly folder: string
  readonly files: () => ReadonlyMap<string, string>
}[] = [{ folder: 'indices/mappings', files: mappingFiles }]
