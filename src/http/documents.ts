import { actions } from '#actions/registry.ts'
import type { Handler } from './exchange.ts'
import { openapiFor } from './openapi.ts'
import { referenceFor } from './reference.ts'
import type { Lang } from './reference-action.ts'
import { JSON_TYPE, textReply } from './reply.ts'

const HEADERS = { 'Cache-Control': 'public, max-age=300' }
/** The pages need only their own style; injected content would not run. */
const PAGE_HEADERS = {
  ...HEADERS,
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'",
}

export type Documents = { readonly en: Handler; readonly zh: Handler; readonly openapi: Handler }

/** The reference in both languages and the OpenAPI document, each made at its first use. */
export const documentHandler = (options: {
  readonly version: string
  readonly testKey: string | undefined
}): Documents => {
  const page = (lang: Lang): Handler => {
    const text = once(() => referenceFor(actions, { ...options, lang }))
    const headers = { ...PAGE_HEADERS, 'Content-Language': lang === 'zh' ? 'zh-CN' : 'en' }
    return async () =>
      textReply(200, { type: 'text/html; charset=utf-8', text: text() }, { headers, form: 'tagged' })
  }
  const openapi = once(() => JSON.stringify(openapiFor(actions, options.version)))
  return {
    en: page('en'),
    zh: page('zh'),
    openapi: async () =>
      textReply(200, { type: JSON_TYPE, text: openapi() }, { headers: HEADERS, form: 'tagged' }),
  }
}

const once = (make: () => string): (() => string) => {
  let made: string | undefined
  return () => {
    made ??= make()
    return made
  }
}
