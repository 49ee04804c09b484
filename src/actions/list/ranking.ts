/** Place from 1 of `own` among all: by figure, largest first, then by account. */
export const placeIn = <T extends { readonly account: string }>(
  all: readonly T[],
  own: T,
  figureOf: (one: T) => bigint,
): number => {
  const figure = figureOf(own)
  const ahead = all.filter(other => {
    const theirs = figureOf(other)
    return theirs > figure || (theirs === figure && other.account < own.account)
  })
  return ahead.length + 1
}
