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
  /** The code and the message of a refusal, whose body has nothing else. */
  readonly code?: number
  readonly message?: string
  /** Any other whole body: a JSON value, serialized as the service does, or a text. `request_id` is `*`. */
  readonly body?: unknown
}

export type HttpCaseKeys = Readonly<Record<'key' | 'revoked' | 'expired', string>>

/** Sends a request to the service under test. `path` begins with `/` and must not be normalized. */
export type Ask = (path: string, init?: RequestInit) => Promise<Response>

const FOLDER = join(import.meta.dir, 'cases')

/** All cases by file, in their order. Names are unique. */
export async function httpCases(): Promise<readonly HttpCase[]> {
  const all: HttpCase[] = []
  for (const file of (await readdir(FOLDER)).sort()) {
    const cases: readonly HttpCase[] = JSON.parse(withActionNames(await Bun.file(join(FOLDER, file)).text()))
    all.push(...cases.map(one => ({ ...one, name: `${file.slice(0, -5)}: ${one.name}` })))
  }
  return all
}

/** The service's answer in the form of a case, to be compared as a whole. Keys in the answer are replaced by `{key}`. */
export async function askCase(one: HttpCase, ask: Ask, keys: HttpCaseKeys): Promise<HttpCase> {
  const { method = 'GET', answer } = one
  const headers = Object.entries(one.headers ?? {}).map(([name, value]) => [name, fillKeys(value, keys)])
  const init = { method, headers: Object.fromEntries(headers), redirect: 'manual' } as const
  const response = await ask(fillKeys(one.path, keys), init)
  const text = maskKeys(await response.text(), keys)
  const told = Object.keys(answer ?? {}).map(name => [name, response.headers.get(name)])
  return {
    ...one,
    status: response.status,
    ...(answer && { answer: Object.fromEntries(told) }),
    // A body that differs in any character from the expected one is returned as parsed JSON or as text.
    ...(text !== writeBody(one) && { body: tryParse(text) }),
  }
}

function writeBody({ code, message, body = { code, message, data: {}, request_id: '*' } }: HttpCase): string {
  return typeof body === 'string' ? body : JSON.stringify(body)
}

function tryParse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return JSON.stringify(value) === text ? value : text
  } catch {
    return text
  }
}

const fillKeys = (text: string, keys: HttpCaseKeys): string =>
  text
    .replace(/\{(key|revoked|expired)\}/g, (_all, name: keyof HttpCaseKeys) => keys[name])
    .replace(/\{(.)\*(\d+)\}/g, (_all, letter: string, times: string) => letter.repeat(Number(times)))

function maskKeys(text: string, keys: HttpCaseKeys): string {
  let plain = text.replace(/"request_id":"[0-9a-f]{16}"/, '"request_id":"*"')
  for (const [name, key] of Object.entries(keys)) plain = plain.replaceAll(key, `{${name}}`)
  return plain
}
