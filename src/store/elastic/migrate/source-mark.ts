import { Failure } from '#failure/failure.ts'
import { ask } from '../client/ask.ts'
import type { Connection } from '../client/connection.ts'

/** Shows whether an index was written since: every write, including a delete, has its own sequence number. */
export type SourceMark = { readonly uuid: string; readonly seqNo: number }

type Copy = {
  readonly routing: { readonly primary: boolean }
  readonly seq_no: { readonly max_seq_no: number }
}
type Stats = {
  readonly indices?: Readonly<
    Record<string, { readonly uuid: string; readonly shards: Readonly<Record<string, readonly Copy[]>> }>
  >
}

export const sourceMark = async (connection: Connection, name: string): Promise<SourceMark> => {
  const stats = await ask<Stats>(connection, {
    what: `read the sequence numbers of ${name}`,
    method: 'GET',
    path: `/${name}/_stats`,
    query: {
      level: 'shards',
      filter_path: 'indices.*.uuid,indices.*.shards.*.routing,indices.*.shards.*.seq_no',
    },
  })
  const found = stats.indices?.[name]
  const primary = Object.values(found?.shards ?? {})
    .flat()
    .find(({ routing }) => routing.primary)
  if (found === undefined || primary === undefined)
    throw new Failure('unavailable', `No shard copy of ${name} at ${connection.url} is available.`)
  return { uuid: found.uuid, seqNo: primary.seq_no.max_seq_no }
}
