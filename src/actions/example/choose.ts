import { writeJson } from '#chain/json.ts'
import { unless } from '#failure/unless.ts'
import type { Published } from '#store/port.ts'
import { type AnswerDeps, answer } from '../answer.ts'
import type { ApiAction } from '../define.ts'
import type { Options } from '../request/options.ts'
import { listParameters } from '../request/query.ts'
import type { Scene } from './scenes.ts'

/** A call that has an answer on the served chain. */
export type Example = {
  /** Parameters of the action, as texts. */
  readonly params: Readonly<Record<string, string>>
  /** `data` of the answer, as JSON text. */
  readonly data: string
  /** The height that the answer reflects. */
  readonly at: Published
}

export type ChooseOptions = { readonly options: Options; readonly signal: AbortSignal }

/**
 * The call of the first scene whose answer has content. If there is none, the first with an empty answer;
 * otherwise undefined. Throws failures that the call did not cause: 'unavailable', 'deadline'.
 */
export async function chooseExample(
  deps: AnswerDeps,
  { action, scenes }: { readonly action: ApiAction; readonly scenes: readonly Scene[] },
  { options, signal }: ChooseOptions,
): Promise<Example | undefined> {
  const tried = new Set<string>()
  let best: Example | undefined
  for (const scene of scenes) {
    const params = fillParams(action, scene)
    const name = JSON.stringify(params)
    if (params === undefined || tried.has(name)) continue
    tried.add(name)
    const found = await answered(deps, { action, params }, { options, signal })
    if (found === undefined) continue
    if (isFull(found.data, action)) return found
    best ??= found
  }
  return best
}

type Call = { readonly action: ApiAction; readonly params: Example['params'] }

/** The answer of a call; undefined: the chain has no such thing, or the things do not belong together. */
async function answered(
  deps: AnswerDeps,
  { action, params }: Call,
  { options, signal }: ChooseOptions,
): Promise<Example | undefined> {
  const query = Object.entries({ module: action.module, action: action.action, ...params })
  const found = await unless(['not_found', 'bad_request'], answer(deps, { query, options }, { signal }))
  return found && { params, data: writeJson(found.data, options), at: found.at }
}

/**
 * Whether an answer shows the purpose of the action: a list must have rows; a single thing must have no empty
 * list or object.
 */
function isFull(data: string, { list }: ApiAction): boolean {
  const fields = Object.entries(JSON.parse(data) as Readonly<Record<string, unknown>>)
  const isEmpty = (value: unknown): boolean =>
    typeof value === 'object' && value !== null && Object.keys(value).length === 0
  return list === undefined
    ? !fields.some(([, value]) => isEmpty(value))
    : fields.some(([name, value]) => name === list && !isEmpty(value))
}

/** Parameters of the action's own example, with values from the scene in place of values of another chain. */
function fillParams(action: ApiAction, scene: Scene): Example['params'] | undefined {
  const texts: [name: string, text: string][] = []
  for (const { name, required, spec } of listParameters(action.params)) {
    const given = new Map(Object.entries(action.example)).get(name)
    if (given === undefined && !required) continue
    const text = spec.sample === undefined ? given : scene[spec.sample]
    if (text === undefined) return undefined
    texts.push([name, text])
  }
  return Object.fromEntries(texts)
}
