import { resolve } from 'node:path'

/** Root of the project. */
export const ROOT = resolve(import.meta.dir, '../..')
