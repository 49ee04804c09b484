import { beforeAll, expect, test } from 'bun:test'
import { actions } from '#actions/registry.ts'
import { type Service, serviceOn } from '../support/processes/service.ts'
import { loadedStore } from '../support/stores/loaded.ts'

let service: Service
beforeAll(async () => {
  service = serviceOn(await loadedStore())
})

async function answerOf(path: string) {
  const response = await service.ask(path, { headers: { 'x-api-key': service.key } })
  const { status } = response
  return { status, tag: response.headers.get('etag'), text: await response.text() }
}

test.each(actions.map(action => [`${action.module}/${action.action}`, action] as const))(
  'route /api/%s has the same answer as the query',
  async (name, { module, action, example }) => {
    const query = new URLSearchParams(example).toString()
    const asked = await answerOf(`/api/?module=${module}&action=${action}&${query}`)
    expect(asked.status).toBe(200)
    for (const path of [`/api/${name}`, `/api/${name}/`, `/api/${name.toUpperCase()}`])
      expect(await answerOf(`${path}?${query}`)).toEqual(asked)
  },
)

test('route: HEAD has the headers of GET and no body', async () => {
  const init = { headers: { 'x-api-key': service.key } }
  const path = '/api/base/get-overview'
  const [get, head] = [await service.ask(path, init), await service.ask(path, { ...init, method: 'HEAD' })]
  expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, get.headers.get('etag'), ''])
})
