import type { ApiAction } from '#actions/define.ts'
import { actionOperation, formatRoute } from './action-operation.ts'
import { dataSchema, describedActions, exportSchemas, NOTHING, schemaName } from './answer-schema.ts'
import {
  type Described,
  errorResponses,
  errorSchema,
  type Form,
  headerComponents,
  type Json,
  mergeForm,
} from './responses.ts'
import { servicePaths } from './service-operations.ts'

/**
 * The interface as an OpenAPI 3.1 document, generated from the action registry, and from the tables of codes and of
 * node methods. Each action has one operation, with its answer for the options for which the document is written.
 */
export function buildOpenapi(all: readonly ApiAction[], described: Described): Json {
  const form = mergeForm(described)
  const actions = describedActions(all, form)
  return {
    openapi: '3.1.0',
    info: {
      title: 'iostlens',
      version: described.version,
      description:
        'Read-only queries over the IOST chain and a read-only gateway to its node RPC. Reference pages: /docs/en, /docs/zh. The document is written for the options that it is requested with, for example /openapi.json?numbers=string; /openapi.json?format=ndjson and ?format=csv describe whole lists, ?format=sse describes feeds. The names in a path are written as they stand here: percent escapes in them are not decoded, and such a path is refused. A client for TypeScript and JavaScript: /client.ts, /client.js.',
    },
    // Relative to the document's own address, and therefore correct behind any path prefix.
    servers: [{ url: '.' }],
    security: [{ apikey: [] }, { apikeyHeader: [] }],
    tags: buildTags(actions),
    paths: {
      ...Object.fromEntries(actions.map(action => [formatRoute(action), { get: actionOperation(action, described) }])),
      ...servicePaths(actions, described),
    },
    components: {
      securitySchemes: {
        apikey: { type: 'apiKey', in: 'query', name: 'apikey' },
        apikeyHeader: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      },
      schemas: {
        ...(form.export === undefined ? answerSchemas(actions, form) : exportSchemas(actions, form)),
        Error: errorSchema(form),
      },
      headers: headerComponents,
      responses: errorResponses(actions, form),
    },
  }
}

const answerSchemas = (actions: readonly ApiAction[], form: Form): Json => ({
  ...Object.fromEntries(actions.map(action => [schemaName(action), dataSchema(action, form)])),
  ...(form.compat === 'iostabc' ? { [NOTHING.name]: NOTHING.schema } : {}),
})

const buildTags = (actions: readonly ApiAction[]): readonly Json[] => [
  ...[...new Set(actions.map(({ module }) => module))].map(name => ({
    name,
    description: `Actions of the module ${name}.`,
  })),
  { name: 'rpc', description: 'Read-only methods of the node.' },
  { name: 'service', description: 'The service itself, and the address that takes any action.' },
]
