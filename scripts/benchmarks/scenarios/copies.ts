import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { callElastic, type Place, readBytes, readFileSize, removeIndices } from '../place.ts'
import { BINARY, readCpu, runCommand } from '../processes.ts'
import { formatTable, type TableRow } from '../report.ts'

/** `verify`, `backup` and `restore` of the store; on Elasticsearch also `indices merge`. */
export async function measureCopies(place: Place): Promise<string> {
  const { store, chain, elastic } = place
  const archive = ['--node', `archive:${chain.archive}`]
  const rows = [await measureCommand(place, 'verify', ['verify', '--store', store, ...archive])]
  if (elastic === undefined) rows.push(...(await copyFile(place, archive)))
  else {
    rows.push(await measureCommand(place, 'indices merge', ['indices', 'merge', '--store', store]))
    rows.push(...(await copySnapshot(place, elastic.url, archive)))
  }
  return formatTable(rows)
}

async function measureCommand(place: Place, step: string, words: readonly string[]): Promise<TableRow> {
  const before = await readCpu(place.elastic?.pid)
  const { out, ...cost } = await runCommand(place.folder, [BINARY, ...words])
  const after = await readCpu(place.elastic?.pid)
  const documents = /(\d+) documents/.exec(out)?.[1]
  return {
    ...{ step, documents: documents === undefined ? undefined : Number(documents), seconds: cost.seconds },
    ...{ 'CPU s': cost.cpu, 'peak MB': cost.peak },
    'CPU s of Elasticsearch': before === undefined || after === undefined ? undefined : after - before,
    'store MB': (await readBytes(place)) / 1e6,
  }
}

/** Copies the file, and restores the copy to another path. */
async function copyFile(place: Place, archive: readonly string[]): Promise<readonly TableRow[]> {
  const copy = join(place.folder, 'backup.sqlite')
  const back = join(place.folder, 'restored.sqlite')
  const remove = (): void => {
    for (const path of [copy, back])
      for (const end of ['', '.manifest.json', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
  }
  remove()
  const backup = await measureCommand(place, 'backup', ['backup', copy, '--store', place.store])
  const bytes = readFileSize(copy)
  const into = ['--store', `sqlite:${back}`, ...archive]
  const restore = await measureCommand(place, 'restore', ['restore', copy, ...into])
  remove()
  return [{ ...backup, 'store MB': bytes / 1e6 }, restore]
}

/** Takes a snapshot, and restores it in place of the store; Elasticsearch needs a `path.repo`. */
async function copySnapshot(place: Place, url: string, archive: readonly string[]): Promise<readonly TableRow[]> {
  const { path: prefix, store } = place
  const repository = `/_snapshot/${prefix}` as const
  await callElastic(url, `PUT ${repository}`, { type: 'fs', settings: { location: prefix } })
  const of = ['--repository', prefix, '--store', store]
  try {
    const backup = await measureCommand(place, 'backup', ['backup', 'benchmark', ...of])
    await removeIndices(url, prefix)
    return [backup, await measureCommand(place, 'restore', ['restore', 'benchmark', ...of, ...archive])]
  } finally {
    await callElastic(url, `DELETE ${repository}/benchmark`)
    await callElastic(url, `DELETE ${repository}`)
  }
}
