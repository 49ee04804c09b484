/**
 * Results of the jobs 0 … `count` − 1, in order. While one is used, up to `most` further ones are under way. The first
 * that fails ends it; what is still under way then is left to its own end.
 */
export const readAhead = async function* <T>(
  { count, most }: { readonly count: number; readonly most: number },
  start: (job: number) => Promise<T>,
): AsyncGenerator<T, void, void> {
  const underWay: Promise<T>[] = []
  let started = 0
  for (let at = 0; at < count; at++) {
    for (; started < count && started <= at + most; started++) {
      const job = start(started)
      // A failure counts when its turn comes, and not at all if nobody waits for it any more.
      job.catch(() => undefined)
      underWay.push(job)
    }
    yield (await underWay.shift()) as T
  }
}
