import { type Place, startService, writePath } from '../place.ts'
import { readCpu } from '../processes.ts'
import { formatTable, type TableRow } from '../report.ts'

/** Exports of long lists: rows per second, CPU, and the growth of memory meanwhile. */
export async function measureExports(place: Place): Promise<string> {
  const service = await startService(place)
  const rows: TableRow[] = []
  for (const format of ['ndjson', 'csv'])
    for (const [list, query] of [
      ['records of token.iost', 'module=contract&action=get-contract-tx&contract=token.iost'],
      [`holders of ${place.chain.token}`, `module=token&action=get-token-holder&token=${place.chain.token}`],
    ] as const) {
      const before = (await readCpu(service.pid)) ?? 0
      const from = Math.max(0, service.memory.length - 1)
      const start = performance.now()
      const answer = await fetch(service.url + writePath(service, `${query}&format=${format}`))
      if (!answer.ok) throw new Error(`${query}: ${answer.status} ${await answer.text()}`)
      let bytes = 0
      for await (const part of answer.body ?? []) bytes += part.length
      const seconds = (performance.now() - start) / 1_000
      const cpu = ((await readCpu(service.pid)) ?? 0) - before
      // One more sample of memory comes within this time.
      await Bun.sleep(600)
      const memory = service.memory.slice(from)
      const count = Number(answer.headers.get('x-total-count'))
      rows.push({
        ...{ list, format, rows: count, MB: bytes / 1e6, seconds, 'rows/s': count / seconds },
        ...{ 'CPU µs a row': (1e6 * cpu) / count, 'grown by MB': Math.max(...memory) - (memory[0] ?? 0) },
      })
    }
  await service.stop()
  return formatTable(rows)
}
