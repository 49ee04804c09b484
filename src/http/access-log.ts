/** Which successes have a line in the access log: the first one of `each`, and so on. */
export const sampling = (each: number): (() => boolean) => {
  let count = 0
  return () => {
    count = (count % each) + 1
    return count === 1
  }
}
