import { ask, askOnce, trying } from '../client/ask.ts'
import type { Connection } from '../client/connection.ts'
import { type ElasticError, toFailure } from '../client/failures.ts'
import { expected, parseAnswer } from '../client/parse-answer.ts'
import type { Counts } from './inventory.ts'
import { inParts } from './names.ts'

/** An index as it exists in the cluster. */
export type IndexState = {
  readonly uuid: string
  readonly closed: boolean
  readonly aliases: ReadonlySet<string>
}

type IndexAnswer = {
  readonly aliases?: object
  readonly settings?: { readonly index?: { readonly uuid?: string; readonly verified_before_close?: string } }
}

/** `local`: as the server that is asked knows it, which needs no master and may be a moment old. */
export type StatesOptions = { readonly signal?: AbortSignal | undefined; readonly local?: boolean }

/** Those of the indices that exist, including closed ones. */
export const indexStates = async (
  connection: Connection,
  indices: readonly string[],
  { signal, local = false }: StatesOptions = {},
): Promise<ReadonlyMap<string, IndexState>> => {
  const found = new Map<string, IndexState>()
  for (const part of inParts(indices)) {
    const answers = await ask<Readonly<Record<string, IndexAnswer>>>(connection, {
      what: `see ${part}`,
      method: 'GET',
      path: `/${part}`,
      signal,
      query: {
        ignore_unavailable: 'true',
        ...(local ? { local: 'true' } : {}),
        filter_path: '*.aliases,*.settings.index.uuid,*.settings.index.verified_before_close',
      },
    })
    for (const [name, { aliases, settings }] of Object.entries(answers))
      found.set(name, {
        uuid: settings?.index?.uuid ?? '',
        closed: settings?.index?.verified_before_close === 'true',
        aliases: new Set(Object.keys(aliases ?? {})),
      })
  }
  return found
}

type Part = {
  readonly status?: number
  readonly error?: ElasticError
  readonly hits?: { readonly total?: { readonly value?: number } }
}

/** Number of documents that a search sees in each index; takes the same time for any number. */
export const countsOf = (connection: Connection, indices: readonly string[]): Promise<Counts> =>
  indices.length === 0 ? Promise.resolve(new Map()) : trying(() => countOnce(connection, indices))

const countOnce = async (connection: Connection, indices: readonly string[]): Promise<Counts> => {
  const what = `count ${indices[0]} and others`
  const answer = await askOnce(connection, {
    what,
    method: 'POST',
    path: '/_msearch',
    lines: indices
      .map(
        index =>
          `${JSON.stringify({ index, allow_partial_search_results: false })}\n{"size":0,"track_total_hits":true}\n`,
      )
      .join(''),
  })
  const parsed = parseAnswer<{ readonly responses?: readonly Part[] }>({ connection, what }, answer.text)
  const parts = expected({ connection, what }, parsed?.responses, all => all.length === indices.length)
  return new Map(
    indices.map((index, at) => {
      const { error, status = 503, hits } = parts[at] ?? {}
      if (error !== undefined)
        throw toFailure({ connection, what: `count ${index}` }, { status, error: { index, ...error } })
      return [index, expected({ connection, what }, hits?.total?.value, Number.isInteger)] as const
    }),
  )
}
