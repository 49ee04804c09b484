import type { HeadAt } from '#head/shown.ts'

/** Headers that say how far the rows of the blocks above reach, or why there are none; undefined: they are not asked for. */
export const headHeaders = (
  head: Pick<HeadAt, 'status' | 'height'> | undefined,
): Readonly<Record<string, string>> =>
  head === undefined
    ? {}
    : {
        'X-Head-Status': head.status,
        ...(head.height === undefined ? {} : { 'X-Head-Height': String(head.height) }),
      }
