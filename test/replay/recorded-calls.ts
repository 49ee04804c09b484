import { type Answer, refused } from '../support/nodes/rpc/answer.ts'
import { parseBool } from '../support/nodes/rpc/go-values.ts'
import type { Call } from '../support/nodes/rpc/routes.ts'
import type { RecordedCall, Recording } from './recording.ts'

/** Keyed by the function that reads the calls, which a recording shares with the forged recordings made from it. */
const indices = new WeakMap<Recording['calls'], Promise<ReadonlyMap<string, RecordedCall>>>()

const keyOf = (method: string, path: string, body: string): string => `${method} ${path} ${body}`

function callIndex(recording: Recording): Promise<ReadonlyMap<string, RecordedCall>> {
  const known = indices.get(recording.calls)
  if (known !== undefined) return known
  const made = recording
    .calls()
    .then(calls => new Map(calls.map(call => [keyOf(call.method, call.path, call.body ?? ''), call])))
  indices.set(recording.calls, made)
  return made
}

/** A body without `by_longest_chain` requests the state of the last irreversible block. */
const bothSides = (body: string): readonly string[] =>
  [
    body,
    body.replace('"by_longest_chain":false', '"by_longest_chain":true'),
    body.includes('"by_longest_chain"') ? body : body.replace(/\}$/, ',"by_longest_chain":true}'),
  ].filter((each, at, all) => all.indexOf(each) === at)

/**
 * The recorded answer to a call. The head of a recording is irreversible, so an answer recorded for one of
 * the two is valid for both. A call that was never recorded is refused with code 2.
 */
export async function recordedAnswer(recording: Recording, { method, path, body }: Call): Promise<Answer> {
  const index = await callIndex(recording)
  const end = path.lastIndexOf('/')
  const side = parseBool('by_longest_chain', path.slice(end + 1))
  const paths = typeof side === 'boolean' ? [path, ...[side, !side].map(at => `${path.slice(0, end)}/${at}`)] : [path]
  for (const candidate of paths)
    for (const asked of bothSides(body)) {
      const call = index.get(keyOf(method, candidate, asked))
      if (call !== undefined) return { status: call.status, contentType: call.content_type, text: call.text }
    }
  return refused(2, 'not recorded')
}
