import type { ApiAction } from '#actions/define.ts'
import { neverOfFeed } from '#actions/feed/feed.ts'
import { ID_PATTERN, LAST_ROW_PATTERN } from '#actions/feed/message.ts'
import { FEED_FORMAT, OPTION_TEXTS, OPTION_VALUES } from '#actions/request/options.ts'
import { listParameters, MAX_DIGITS, type Parameter, type ParameterSpec } from '#actions/request/query.ts'
import { buildExportAnswer, dataRef, schemaName } from './answer-schema.ts'
import {
  actionErrorRefs,
  buildSuccess,
  chosenParameters,
  type Described,
  FORM_NAMES,
  type Form,
  getExample,
  type Json,
  mergeForm,
  NOT_MODIFIED,
} from './responses.ts'

export const formatRoute = ({ module, action }: ApiAction): string => `/api/${module}/${action}`

/** `get-account-tx` → `getAccountTx` */
export function operationId(action: ApiAction): string {
  const name = schemaName(action)
  return name.charAt(0).toLowerCase() + name.slice(1)
}

/** An action on its own route, with the types and defaults of its parameters, and its answer. */
export function actionOperation(action: ApiAction, described: Described): Json {
  const form = mergeForm(described)
  return {
    operationId: operationId(action),
    tags: [action.module],
    summary: action.title.en,
    'x-summary-zh': action.title.zh,
    description: action.summary.en,
    'x-description-zh': action.summary.zh,
    parameters: [
      ...listParameters(action.params)
        .filter(({ name }) => !leftOut(form, action).includes(name))
        .map(parameter => ownParameter(parameter, getExample(described, action))),
      ...formParameters(described),
      ...(form.export === FEED_FORMAT ? [LAST_EVENT_ID, LAST_EVENT_ID_IN_QUERY] : []),
      language,
    ],
    responses:
      form.export === undefined
        ? { 200: buildSuccess(dataRef(action, form), form), 304: NOT_MODIFIED, ...actionErrorRefs(action, form) }
        : { 200: buildExportAnswer(action, form.export), ...actionErrorRefs(action, form) },
  }
}

/**
 * The parameters that a form has not. A whole list has no pages and only irreversible rows. A feed has no
 * pages, no end, one order and no steps. Only CSV has columns to choose.
 */
function leftOut({ export: exported }: Form, action: ApiAction): readonly string[] {
  if (exported === undefined) return ['csv']
  if (exported === FEED_FORMAT) return neverOfFeed(action)
  return ['page', 'size', 'head', ...(exported === 'csv' ? [] : ['csv'])]
}

const LAST_EVENT_ID: Json = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'The id of the last event received: the feed continues after it, and start_seq is ignored.',
  'x-description-zh': '已收到的最后一个事件的 id：事件流从其后继续，并优先于 start_seq。',
  schema: { type: 'string', pattern: `${ID_PATTERN}|${LAST_ROW_PATTERN}` },
}

const LAST_EVENT_ID_IN_QUERY: Json = {
  ...LAST_EVENT_ID,
  name: 'lastEventId',
  in: 'query',
  description: 'The same as the header Last-Event-ID, for clients that cannot send it; the header takes precedence.',
  'x-description-zh': '与请求头 Last-Event-ID 相同，供无法发送该请求头的客户端使用；请求头优先。',
}

const ownParameter = ({ name, required, spec }: Parameter, example: Readonly<Record<string, string>>): Json => ({
  name,
  in: 'query',
  required,
  description: `${spec.description.en} Format: ${spec.rule.en}.`,
  'x-description-zh': `${spec.description.zh}格式：${spec.rule.zh}。`,
  schema: buildParameterSchema(spec),
  ...exampleOfType(spec, new Map(Object.entries(example)).get(name)),
})

const buildParameterSchema = ({ type, pattern, values, minimum, maximum, fallback }: ParameterSpec): Json => ({
  type,
  ...(type === 'string' && values === undefined ? { pattern } : {}),
  ...(values === undefined ? {} : { enum: values }),
  ...(minimum === undefined ? {} : { minimum }),
  ...(maximum === undefined ? {} : { maximum }),
  // 10^19 is exactly representable as a double; 10^19 − 1 is not.
  ...(type === 'integer' && maximum === undefined ? { exclusiveMaximum: 10 ** MAX_DIGITS } : {}),
  ...(fallback === undefined ? {} : { default: typeof fallback === 'bigint' ? Number(fallback) : fallback }),
})

/** An example has the type of its parameter. */
const exampleOfType = ({ type }: ParameterSpec, example: string | undefined): Json =>
  example === undefined ? {} : { example: type === 'integer' ? Number(example) : example }

/** The form options for which the document is written. Each has one value, and must be sent. */
export const formParameters = ({ chosen }: Described): readonly Json[] =>
  FORM_NAMES.flatMap(name => {
    const value = chosenParameters(chosen)[name]
    if (value === undefined) return []
    return [
      {
        name,
        in: 'query',
        required: true,
        description: OPTION_TEXTS[name].en,
        'x-description-zh': OPTION_TEXTS[name].zh,
        schema: { type: 'string', enum: [value] },
        example: value,
      },
    ]
  })

/** The option that only changes messages. */
export const language: Json = {
  name: 'lang',
  in: 'query',
  required: false,
  description: OPTION_TEXTS.lang.en,
  'x-description-zh': OPTION_TEXTS.lang.zh,
  schema: { type: 'string', enum: OPTION_VALUES.lang },
}
