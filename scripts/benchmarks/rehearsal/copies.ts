import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { removeIndices } from '../elastic.ts'
import { BINARY, cpuOf, running } from '../processes.ts'
import { archiveOf, bytesIn, type Place } from './place.ts'
import { peakOf, type Row } from './row.ts'

/** Runs a command of the program on a place and returns its cost. */
const costOf = async (
  place: Place,
  step: string,
  words: readonly string[],
): Promise<Row & { readonly out: string }> => {
  const before = await cpuOf(place.elastic?.pid)
  const { seconds, cpu, memory, out } = await running(place.folder, [BINARY, ...words])
  const after = await cpuOf(place.elastic?.pid)
  const elastic = before === undefined || after === undefined ? {} : { elasticCpu: after - before }
  return {
    step,
    seconds,
    cpu,
    ...elastic,
    ...peakOf(memory),
    out,
  }
}

const countedIn = (out: string): number => Number(/(\d+) documents/.exec(out)?.[1])

/** Verifies the store against a replay of its archive. */
export const verifyRows = async (place: Place): Promise<readonly Row[]> => {
  const words = ['verify', '--store', place.store, '--node', `archive:${archiveOf(place)}`]
  const { out: _, ...row } = await costOf(place, 'verify', words)
  return [row]
}

/** Merges each finished partition to one segment. */
export const mergeRows = async (place: Place): Promise<readonly Row[]> => {
  if (place.elastic === undefined) return []
  const { out: _, ...row } = await costOf(place, 'indices merge', ['indices', 'merge', '--store', place.store])
  const { server, prefix } = place.elastic
  type Stats = { readonly _all: { readonly primaries: Record<'merges' | 'segments', Merges> } }
  type Merges = { readonly total: number; readonly total_time_in_millis: number; readonly count: number }
  const { _all } = await server.json<Stats>('GET', `/${prefix}-*/_stats/merge,segments`)
  const { merges, segments } = _all.primaries
  const indices = Object.keys(await server.json<object>('GET', `/${prefix}-*`)).length
  return [
    { ...row, bytes: await place.bytes() },
    {
      step: `${merges.total} merges of Elasticsearch; ${segments.count} segments in ${indices} indices`,
      seconds: merges.total_time_in_millis / 1_000,
    },
  ]
}

/** Copies the store and restores the copy: a file to another path, a snapshot in place of the store. */
export const copyRows = async (place: Place): Promise<readonly Row[]> =>
  place.elastic === undefined ? fileRows(place) : snapshotRows(place, place.elastic)

const fileRows = async (place: Place): Promise<readonly Row[]> => {
  const { folder, chain, store } = place
  const [copy, back] = ['backup', 'restored'].map(name => join(folder, `${chain}-${name}.sqlite`))
  if (copy === undefined || back === undefined) return []
  const remove = (): void => {
    for (const path of [copy, back])
      for (const end of ['', '.manifest.json', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
  }
  remove()
  const { out: _, ...backup } = await costOf(place, 'backup', ['backup', copy, '--store', store])
  const bytes = bytesIn(copy)
  const into = ['--store', `sqlite:${back}`, '--node', `archive:${archiveOf(place)}`]
  const { out, ...restore } = await costOf(place, 'restore', ['restore', copy, ...into])
  remove()
  const of = { count: countedIn(out), of: 'documents', bytes } as const
  return [
    { ...backup, ...of },
    { ...restore, ...of },
  ]
}

const snapshotRows = async (
  place: Place,
  { server, prefix }: NonNullable<Place['elastic']>,
): Promise<readonly Row[]> => {
  const path = `/_snapshot/${prefix}`
  await server.json('PUT', path, { type: 'fs', settings: { location: prefix } })
  const known = await server.json<{ readonly snapshots: readonly { readonly snapshot: string }[] }>(
    'GET',
    `${path}/_all`,
  )
  for (const { snapshot } of known.snapshots) await server.send('DELETE', `${path}/${snapshot}`)
  const of = ['--repository', prefix, '--store', place.store]
  const { out: _, ...backup } = await costOf(place, 'backup', ['backup', 'rehearsal', ...of])
  const bytes = await place.bytes()
  await removeIndices(server, prefix)
  const node = ['--node', `archive:${archiveOf(place)}`]
  const { out, ...restore } = await costOf(place, 'restore', ['restore', 'rehearsal', ...of, ...node])
  const each = { count: countedIn(out), of: 'documents', bytes } as const
  return [
    { ...backup, ...each },
    { ...restore, ...each },
  ]
}
