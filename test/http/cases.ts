import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { withActionNames } from '../support/action-names.ts'

/** A request and the relevant parts of its answer, from the JSON files of `cases/`. */
type HttpCase = {
  readonly name: string
  readonly method?: string
  /** Path and query. `{key}`, `{revoked}` and `{expired}` are replaced by keys, `{a*9000}` by a repeated letter. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly status: number
  /** Expected headers. null: absent. */
  readonly answer?: Readonly<Record<string, string | null>>
  /** The whole body: a JSON value, serialized as the service does, or any other text. `request_id` is `*`. */
  readonly body: unknown
}

export type HttpCaseKeys = {
  readonly key: string
  readonly revoked: string
  readonly expired: string
}

/** Sends a request to the service under test. `path` begins with `/` and must not be normalized. */
export type Ask = (path: string, init?: RequestInit) => Promise<Response>

const FOLDER = join(import.meta.dir, 'cases')

/** All cases by file, in their order. Names are unique. */
export async function httpCases(): Promise<readonly HttpCase[]> {
  const files = (await readdir(FOLDER)).filter(name => name.endsWith('.json')).sort()
  const lists = await Promise.all(
    files.map(async file =>
      (JSON.parse(withActionNames(await Bun.file(join(FOLDER, file)).text())) as HttpCase[]).map(one => ({
        ...one,
        name: `${file.slice(0, -5)}: ${one.name}`,
      })),
    ),
  )
  return lists.flat()
}

/**
 * The service's answer in the form of a case, to be compared as a whole. Keys in the answer are replaced by `{key}`.
 */
export async function askCase(one: HttpCase, ask: Ask, keys: HttpCaseKeys): Promise<HttpCase> {
  const headers = Object.entries(one.headers ?? {}).map(([name, value]) => [name, filled(value, keys)] as const)
  const response = await ask(filled(one.path, keys), {
    ...(one.method === undefined ? {} : { method: one.method }),
    headers: Object.fromEntries(headers),
    redirect: 'manual',
  })
  const text = masked(await response.text(), keys)
  const wanted = Object.keys(one.answer ?? {})
  return {
    ...one,
    status: response.status,
    ...(one.answer === undefined
      ? {}
      : { answer: Object.fromEntries(wanted.map(name => [name, response.headers.get(name)])) }),
    // A body that differs in any character from the expected one is returned as parsed JSON or as text.
    body: text === writtenBody(one.body) ? one.body : parsedOr(text),
  }
}

const writtenBody = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body))

function parsedOr(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return JSON.stringify(value) === text ? value : text
  } catch {
    return text
  }
}

const filled = (text: string, keys: HttpCaseKeys): string =>
  text
    .replace(/\{(key|revoked|expired)\}/g, (_all, name: keyof HttpCaseKeys) => keys[name])
    .replace(/\{(.)\*(\d+)\}/g, (_all, letter: string, times: string) => letter.repeat(Number(times)))

function masked(text: string, keys: HttpCaseKeys): string {
  let plain = text.replace(/"request_id":"[0-9a-f]{16}"/, '"request_id":"*"')
  for (const [name, key] of Object.entries(keys)) plain = plain.replaceAll(key, `{${name}}`)
  return plain
}
