import type { Published } from '#store/port.ts'
import { membersOf, publishedFrom } from '#store/published.ts'
import type { Checkpoint } from '../schema/checkpoint-record.ts'

/** What a store has at the end of a batch. */
export type Content = Pick<Checkpoint, 'partitions' | 'filling' | 'inventory'> & { readonly end: Published }

/** The content of a checkpoint as text, for the loader's own file; undefined: there is no block yet. */
export function formatContent({ end, partitions, filling, inventory }: Checkpoint): string | undefined {
  if (end === undefined) return undefined
  const content: Content = { end, partitions, filling, inventory }
  return JSON.stringify(content, (_key, item) => (typeof item === 'bigint' ? String(item) : item))
}

/** undefined: the text is not one of `formatContent`. */
export function parseContent(text: string): Content | undefined {
  const content = membersOf(JSON.parse(text))
  const end = publishedFrom(content?.['end'])
  // The text is of this program alone.
  return end === undefined ? undefined : ({ ...content, end } as Content)
}
