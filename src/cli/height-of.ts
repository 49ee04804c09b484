import { Failure } from '#failure/failure.ts'
import type { Values } from './settings.ts'

/** The height in `--to`; undefined: none. Throws 'usage' when `--to` is a store. */
export function parseToHeight({ to }: Pick<Values, 'to'>): number | undefined {
  if (typeof to !== 'object') return to
  throw new Failure('usage', '--to names a store, but this command takes a height.', {
    help: 'Set --to to the height of the last block.',
  })
}
