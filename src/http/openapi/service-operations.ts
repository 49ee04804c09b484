import type { ApiAction } from '#actions/define.ts'
import { formParameters, language } from './action-operation.ts'
import { type Described, type Json, mergeForm } from './described.ts'
import { type HeaderName, headersNamed } from './headers.ts'
import { buildSuccess, closedObject, errorRefs, NOT_MODIFIED } from './responses.ts'

/** The address of the specification, which takes any action. Its answer depends on the action. */
export function anyOperation(actions: readonly ApiAction[], described: Described): Json {
  const name = (parameter: string, description: string, values: readonly string[]): Json => ({
    name: parameter,
    in: 'query',
    required: true,
    description: `${description} Not case-sensitive.`,
    schema: { type: 'string', enum: values },
  })
  return {
    operationId: 'query',
    tags: ['service'],
    summary: 'Any action, selected by module and action.',
    'x-summary-zh': '任意查询，由 module 与 action 指定。',
    description: 'The same queries as at the paths of the actions, where parameters and answers are described.',
    parameters: [
      name('module', 'Module that the action belongs to.', [...new Set(actions.map(({ module }) => module))]),
      name(
        'action',
        'Name of the query.',
        actions.map(({ action }) => action),
      ),
      {
        name: 'parameters',
        in: 'query',
        required: false,
        description: 'The parameters of the action.',
        style: 'form',
        explode: true,
        schema: { type: 'object', additionalProperties: { type: 'string' } },
      },
      ...formParameters(described),
      language,
    ],
    responses: {
      200: buildSuccess({ type: 'object', additionalProperties: true }, mergeForm(described)),
      304: NOT_MODIFIED,
      ...errorRefs(),
    },
  }
}

/** Statuses of the failures of an operation without a key. */
const OPEN_ERRORS = [405, 414, 500, 504]

/** An operation that needs no key. */
export const openOperation = (
  operationId: string,
  { en, zh, responses }: { readonly en: string; readonly zh: string; readonly responses: Json },
): Json => ({
  operationId,
  tags: ['service'],
  summary: en,
  'x-summary-zh': zh,
  security: [],
  responses: { ...responses, ...errorRefs(status => OPEN_ERRORS.includes(status)) },
})

/** A response of the service about itself. */
const jsonAnswer = (
  description: string,
  { schema, headers = [] }: { readonly schema: Json; readonly headers?: readonly HeaderName[] },
): Json => ({
  description,
  headers: headersNamed(['X-Request-Id', 'Cache-Control', ...headers]),
  content: { 'application/json': { schema } },
})

export const version: Json = { type: 'string', description: 'Version of the service.' }

export const healthOperation: Json = openOperation('health', {
  en: 'Whether the process is running.',
  zh: '进程是否在运行。',
  responses: {
    200: jsonAnswer('The process is running.', {
      schema: closedObject({ status: { type: 'string', const: 'ok' }, version }),
    }),
  },
})

/** The progress of the load; absent while it is unknown. */
export const loadProperties: Json = {
  height: { type: 'integer', minimum: 0, description: 'Height of the last loaded block.' },
  time: { type: 'string', description: 'Time of that block, ISO-8601 UTC.' },
  whole: {
    type: 'boolean',
    description: 'Whether no answer was refused because of damage in the store.',
  },
  lib: { type: 'integer', minimum: 0, description: 'Height of the last irreversible block.' },
  behind: {
    type: ['integer', 'null'],
    minimum: 0,
    description: 'Blocks that are irreversible and not loaded; null when it is unknown.',
  },
  behind_seconds: {
    type: ['number', 'null'],
    minimum: 0,
    description:
      "Seconds of the chain's time between the last loaded block and the node's last irreversible one; null when it is unknown.",
  },
  lag_seconds: {
    type: ['number', 'null'],
    minimum: 0,
    description:
      "Age of the last loaded block by the clock of the service, in seconds; null when that clock is before the block's time.",
  },
  node: {
    type: 'string',
    enum: ['none', 'reachable', 'unreachable', 'foreign', 'apart'],
    description:
      'The node followed; foreign: the node serves another chain than the store holds; apart: the node is on another branch.',
  },
  node_heard: {
    type: ['string', 'null'],
    description: 'Time of the last response from a node of the chain, ISO-8601 UTC; null when none has responded.',
  },
}

export const readyOperation: Json = openOperation('ready', {
  en: 'Whether the service is ready to serve requests.',
  zh: '服务是否可以处理请求。',
  responses: {
    200: jsonAnswer('The service is ready.', {
      schema: closedObject({ ready: { type: 'boolean', const: true }, ...loadProperties, version }),
    }),
    503: jsonAnswer('The service is not ready; the response gives the reason.', {
      schema: closedObject(
        {
          ready: { type: 'boolean', const: false },
          reason: { type: 'string', description: 'Why it is not ready.' },
          ...loadProperties,
          version,
        },
        ['ready', 'reason', 'version'],
      ),
      headers: ['Retry-After'],
    }),
  },
})
