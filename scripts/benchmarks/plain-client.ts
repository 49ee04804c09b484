import type { Load, Target } from './lean-client.ts'

/** Stands in for wrk: `plain-client.ts TARGET.json CLIENTS SECONDS [MOST]`; prints a `Load` as JSON. */

const [, , file = '', clients = '1', seconds = '1', most = ''] = process.argv
const { url, paths, body }: Target = await Bun.file(file).json()
const start = performance.now()
const until = start + Number(seconds) * 1_000
const enough = most === '' ? Number.POSITIVE_INFINITY : Number(most)
const times: number[] = []
let failed = 0
let next = 0
const client = async (): Promise<void> => {
  while (performance.now() < until && times.length < enough) {
    const began = performance.now()
    const answer = await fetch(
      url + paths[next++ % paths.length],
      body === undefined ? {} : { method: 'POST', body, headers: { 'content-type': 'application/json' } },
    )
    await answer.arrayBuffer()
    if (!answer.ok) failed++
    times.push(performance.now() - began)
  }
}
await Promise.all(Array.from({ length: Number(clients) }, client))
const sorted = times.toSorted((a, b) => a - b)
const share = (part: number): number => sorted[Math.floor((sorted.length - 1) * part)] ?? 0
const load: Load = {
  requests: times.length,
  perSecond: (1_000 * times.length) / (performance.now() - start),
  p50: share(0.5),
  p99: share(0.99),
  failed,
}
console.log(JSON.stringify(load))
