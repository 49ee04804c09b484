/**
 * Results of the jobs 0 … `count` − 1, in order. While one is used, up to `most` further jobs are running.
 * The first failure ends the sequence; jobs that are still running are not cancelled.
 */
export const prefetchResults = async function* <T>(
  { count, most }: { readonly count: number; readonly most: number },
  start: (job: number) => Promise<T>,
): AsyncGenerator<T, void, void> {
  const underWay: Promise<T>[] = []
  let started = 0
  for (let at = 0; at < count; at++) {
    for (; started < count && started <= at + most; started++) {
      const job = start(started)
      // A failure is reported in its turn, and ignored if the caller has stopped.
      job.catch(() => undefined)
      underWay.push(job)
    }
    yield (await underWay.shift()) as T
  }
}
