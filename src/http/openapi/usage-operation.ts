import { formParameters, language } from './action-operation.ts'
import { type Described, type Json, mergeForm } from './described.ts'
import { headersNamed } from './headers.ts'
import { buildSuccess, closedObject, errorRefs } from './responses.ts'

const count = (description: string): Json => ({ type: 'integer', minimum: 0, description })

const usage = closedObject({
  id: { type: 'string', description: 'Id of the key, which stays when the key is rotated.' },
  name: { type: 'string', description: 'Name that the operator gave the key.' },
  expires: { type: ['string', 'null'], description: 'When the key expires, ISO-8601 UTC; null: never.' },
  second: closedObject({
    limit: count('Requests per second.'),
    remaining: count('Requests left in this second.'),
  }),
  today: closedObject({
    limit: count('Requests per UTC day.'),
    used: count('Requests of today, counted by all processes of the service.'),
    remaining: count('Requests left today.'),
    resets: { type: 'string', description: 'When the day ends, ISO-8601 UTC.' },
  }),
})

/** Statuses of the operation's failures. It waits for no turn and does not count as a request. */
const ERRORS = [400, 401, 403, 405, 414, 429, 500, 503, 504]

export const usageOperation = (described: Described): Json => ({
  operationId: 'usage',
  tags: ['service'],
  summary: 'Remaining requests of an API key. This call itself is not counted.',
  'x-summary-zh': 'API key 的剩余调用次数。此查询不计入调用次数。',
  parameters: [...formParameters(described), language],
  responses: {
    200: { ...buildSuccess(usage, mergeForm(described)), headers: headersNamed(['X-Request-Id', 'Cache-Control']) },
    ...errorRefs(status => ERRORS.includes(status)),
  },
})
