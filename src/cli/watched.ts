import { readFile, stat } from 'node:fs/promises'
import { Failure, getErrorMessage, withoutSecrets } from '#failure/failure.ts'
import type { Log } from '#failure/log.ts'
import { fetchPeer } from '#peer/fetch-peer.ts'
import { ACCEPTED_CODING, readBody } from '#peer/read-body.ts'
import type { Clock } from '#time/clock.ts'
import { every } from '#time/every.ts'

/** Interval of the reads, and so the longest delay of a change. */
const POLL_MS = 60_000
const FETCH_MS = 10_000
/** Maximum size: market figures are a few hundred bytes, profiles of some hundred producers a few hundred kilobytes. */
const MAX_BYTES = 4_000_000

export type WatchedSource = { readonly path: string } | { readonly url: string }

/** A value from an operator's file or URL, read again every minute. */
export type Watched<T> = { get(): T | undefined; close(): void }

/**
 * Reads a source now and every minute. A file that cannot be read or parsed at the start is a 'usage' Failure. A URL
 * that does not answer at the start, and every later failure, is logged, and the last valid value is kept.
 */
export async function watch<T>(options: {
  readonly source: WatchedSource
  /** Name of the source in messages: "Prices". */
  readonly what: string
  /** Parses the text; throws when it is invalid. */
  readonly parse: (text: string) => T
  readonly log: Log
  readonly clock: Pick<Clock, 'sleep'>
}): Promise<Watched<T>> {
  const { source, what, parse, log, clock } = options
  const name = 'path' in source ? source.path : withoutSecrets(source.url)
  let value: T | undefined
  let mark: string | undefined

  const read = async (): Promise<void> => {
    if ('url' in source) {
      value = parse(await fetchText(source.url))
      return
    }
    const { mtimeMs, size } = await stat(source.path)
    const found = `${mtimeMs} ${size}`
    if (found === mark) return
    value = parse(await readWatchedText(source.path, size))
    mark = found
  }
  const warn = (error: unknown): void => {
    const now = value === undefined ? 'the next attempt is in a minute' : 'the last ones read remain in use'
    log('warn', `${what} could not be read; ${now}.`, { source: name, reason: getErrorMessage(error) })
  }

  try {
    await read()
  } catch (error) {
    if ('path' in source) throw unreadable(what, name, error)
    warn(error)
  }
  const polling = every(clock, POLL_MS, () => read().catch(warn))
  return { get: () => value, close: polling.stop }
}

/** The value of an operator's file that is read only at the start. Throws 'usage' when it cannot be read or parsed. */
export async function readOnce<T>(
  path: string,
  { what, parse }: { readonly what: string; readonly parse: (text: string) => T },
): Promise<T> {
  try {
    const { size } = await stat(path)
    return parse(await readWatchedText(path, size))
  } catch (error) {
    throw unreadable(what, path, error)
  }
}

const unreadable = (what: string, name: string, error: unknown): Failure =>
  new Failure('usage', `${what} cannot be read from ${name}: ${getErrorMessage(error)}.`)

async function readWatchedText(path: string, size: number): Promise<string> {
  if (size > MAX_BYTES) throw new RangeError(`${size} bytes are more than ${MAX_BYTES}`)
  return readFile(path, 'utf8')
}

async function fetchText(url: string): Promise<string> {
  const headers = { 'accept-encoding': ACCEPTED_CODING }
  const answer = await fetchPeer(url, { headers, signal: AbortSignal.timeout(FETCH_MS) })
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`)
  return new TextDecoder().decode(await readBody(answer, { most: MAX_BYTES }))
}
