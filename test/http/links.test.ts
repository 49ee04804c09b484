import { expect, test } from 'bun:test'
import { formatActionName } from '#actions/define.ts'
import { actions } from '#actions/registry.ts'
import { serviceOn } from '../support/processes/service.ts'
import { SOAK } from '../support/processes/soak.ts'
import { loadedStore } from '../support/stores/loaded.ts'

const service = serviceOn(await loadedStore())

/** The public URL of the service behind a proxy that adds a path. */
const PREFIX = 'https://example.org/chain/v1'

async function get(path: string, init: RequestInit = {}) {
  const response = await service.ask(path, { ...init, headers: { 'x-api-key': service.key, ...init.headers } })
  return { response, links: linksOf(response.headers.get('link'), path) }
}

/** The links of an answer as paths of the service, resolved against the URL that the caller knows. */
function linksOf(header: string | null, path: string): ReadonlyMap<string, string> {
  const links = (header ?? '').split(', ').filter(link => link !== '')
  return new Map(
    links.map(link => {
      const [, reference = '', relation = ''] = /^<([^>]+)>; rel="(\w+)"$/.exec(link) ?? []
      const { href } = new URL(reference, `${PREFIX}${path}`)
      expect(href).toStartWith(PREFIX)
      return [relation, href.slice(PREFIX.length)] as const
    }),
  )
}

/** The rows of an address, and its links. */
async function readRows(path: string, list: string) {
  const { response, links } = await get(path)
  expect(response.status).toBe(200)
  const { data } = (await response.json()) as { readonly data: Readonly<Record<string, unknown[]>> }
  return { rows: data[list] ?? [], total: Number(data['total']), links }
}

const LISTS = actions.filter(({ list, params }) => list !== undefined && 'page' in params.properties)

test.each(LISTS.map((action, at) => [`${action.module} ${formatActionName(action)}`, action, at] as const))(
  'Link of %s: from every address the links lead on, and through the whole list and back',
  async (_name, { module, action, params, example, list = '' }, place) => {
    const { page: _page, size: _size, ...asked } = example
    // Of long lists the beginning is enough, except in long runs.
    const part = SOAK || params.properties['end_seq'] === undefined ? {} : { end_seq: '1500' }
    const query = new URLSearchParams({ ...asked, ...part }).toString()
    const whole = await readRows(`/api/${module}/${action}?${query}&size=90`, list)
    const { total } = whole
    const size = Math.min(500, Math.max(1, Math.ceil(total / 7)))
    const paths = [
      `/api/?module=${module}&action=${action}&${query}&size=${size}`,
      `/api?size=${size}&module=${module}&action=${action}&${query}&page=0&lang=zh`,
      `/api/${module}/${action}?${query}&size=${size}&numbers=number`,
      `/api/${module}/${action}/?size=${size}&${query}`,
    ]
    const rows: unknown[] = []
    let pages = 0
    for (let at = paths[place % paths.length]; at !== undefined; pages += 1) {
      const { rows: own, links } = await readRows(at, list)
      rows.push(...own)
      expect(links.has('prev')).toBe(pages > 0)
      at = links.get('next')
    }
    expect([rows.length, pages]).toEqual([total, Math.max(1, Math.ceil(total / size))])
    expect(rows.slice(0, 90)).toEqual(whole.rows)
    // From every address, the last link leads to the last rows, and further to the page before them.
    for (const path of paths) {
      const { links } = await get(path)
      const end = await readRows(links.get('last') ?? '', list)
      expect(end.rows).toEqual(rows.slice((pages - 1) * size))
      if (pages > 1) expect(links.get('next')).toContain('page=2')
      expect(end.links.has('prev')).toBe(pages > 1)
    }
  },
  600_000,
)

test('Link: the header is the same on HEAD and 304, in every form of the answer', async () => {
  for (const form of ['', '&format=bare', '&compat=iostabc', '&numbers=string']) {
    const path = `/api/token/get-token-holder?token=iost&page=2&size=5${form}`
    const { response } = await get(path)
    const link = response.headers.get('link')
    expect(link).toContain(`<?token=iost&page=3&size=5${form}>; rel="next"`)
    const head = await get(path, { method: 'HEAD' })
    const known = await get(path, { headers: { 'if-none-match': response.headers.get('etag') ?? '' } })
    expect([head.response.status, head.response.headers.get('link')]).toEqual([200, link])
    expect([known.response.status, known.response.headers.get('link')]).toEqual([304, link])
  }
})

test('Link: the header never contains the key, and is absent on answers without pages', async () => {
  const { key } = service
  const path = `/api/?apikey=${key}&module=base&action=get-wealth-list&_=${key}&t=5`
  const link = (await service.ask(path)).headers.get('link') ?? ''
  expect(link).not.toContain(key)
  expect(link).toStartWith('<?module=base&action=get-wealth-list&t=5&page=1>; rel="first"')
  for (const other of [
    '/api/base/get-overview',
    '/api/block/get-block-tx?number=804',
    '/api/producer/get-producer-voter?producer=producer000',
    '/api/account/get-account-detail?account=nosuchacc',
    '/api/base/get-wealth-list?page=x',
  ])
    expect((await get(other)).response.headers.has('link')).toBe(false)
  const part = await get('/api/producer/get-producer-voter?producer=producer000&page=1')
  expect(part.links.has('last')).toBe(true)
})
