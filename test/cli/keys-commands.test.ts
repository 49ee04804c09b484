import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { createKey, nextKey } from '#keys/key.ts'
import { groupHolders } from '#keys/keyring.ts'
import { openSqlite } from '#store/sqlite/open-sqlite.ts'
import { seen, until } from '#test/support/wait.ts'
import { cliFolder } from '../support/processes/cli-process.ts'

const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1) ?? ''

test('keys: a key is shown, changed, rotated with a grace period, and revoked with all its successors', async () => {
  await using folder = await cliFolder()
  const run = async (...args: readonly string[]) => {
    const { code, out, err } = await folder.run(['keys', ...args])
    return { code, out, err, last: lastLine(out) }
  }
  const added = await run('add', 'wallet', '--plan', 'small', '--note', 'Ada, 2nd', '--json')
  const { id, key, ...plan } = JSON.parse(added.last)
  expect([added.code, plan]).toEqual([0, { name: 'wallet', per_second: 5, per_day: 10000 }])
  const shown = async () => JSON.parse((await run('show', id, '--json')).last)
  expect(await shown()).toMatchObject({
    ...{ id, name: 'wallet', note: 'Ada, 2nd', plan: 'small', state: 'valid', expires: null, rotated: null },
    ...{ requests_today: 0, requests_30_days: 0, last_used: null },
  })

  const service = folder.start(['serve', '--listen', '127.0.0.1:0'])
  const url = await service.firstLine
  const ask = async (with_: string) => (await fetch(`${url}/rpc/getNodeInfo?apikey=${with_}`)).status
  const usage = async (with_: string) => {
    const response = await fetch(`${url}/usage`, { headers: { 'X-API-Key': with_ } })
    return { status: response.status, data: JSON.parse(await response.text()).data }
  }
  // The key is accepted, but there is no node.
  expect([await ask(key), await ask(key)]).toEqual([503, 503])
  for (let times = 0; times < 2; times++)
    expect(await usage(key)).toMatchObject({
      status: 200,
      data: { id, name: 'wallet', expires: null, today: { limit: 10000, used: 2, remaining: 9998 } },
    })
  await until(async () => (await shown()).requests_today === 2, 50)
  expect(Date.parse((await shown()).last_used)).toBeGreaterThan(Date.parse((await shown()).created))

  const changed = await run('change', id, '--per-day', '700', '--note', 'off', '--rename', 'purse')
  expect(changed).toMatchObject({ code: 0, out: `Changed key ${id}.\n` })
  expect(await shown()).toMatchObject({ name: 'purse', note: null, plan: null, per_second: 5, per_day: 700 })
  await until(async () => (await usage(key)).data.today.limit === 700, 50)

  const rotated = await run('rotate', id, '--grace', '1d')
  // The service may use a list of keys that it read a moment ago.
  await until(async () => (await usage(rotated.last)).status === 200, 50)
  expect([rotated.code, rotated.last === key, await ask(rotated.last), await ask(key)]).toEqual([0, false, 503, 503])
  // The old and the new key share one plan.
  expect((await usage(rotated.last)).data.today).toMatchObject({ limit: 700, used: 4 })
  expect(await shown()).toMatchObject({ id, name: 'purse', per_day: 700, former_until: [expect.any(String)] })

  const again = await run('rotate', id, '--grace', '0s')
  // This interval stays within the plan of five requests a second.
  const refused = (with_: string) =>
    seen(
      () => ask(with_),
      status => status === 403,
      250,
    )
  await refused(rotated.last)
  await refused(key)
  await seen(
    () => ask(again.last),
    status => status !== 429,
    250,
  ).then(status => expect(status).toBe(503))
  const counted = (await run('list', '--counts')).out.trimEnd().split('\n')
  expect(counted).toHaveLength(2)
  expect(counted[0]).toMatch(/ TODAY +30 DAYS +LAST USE +STATE +NAME$/)

  expect((await run('revoke', id)).code).toBe(0)
  await refused(again.last)
  expect((await usage(again.last)).status).toBe(403)
  expect(await shown()).toMatchObject({ state: 'revoked' })
  expect(await run('rotate', id)).toMatchObject({ code: 2, out: '' })
  service.kill('SIGTERM')
  expect((await service.ended).code).toBe(0)
})

test('keys: a change that is not possible is a usage error with a reason', async () => {
  await using folder = await cliFolder()
  const added = await folder.run(['keys', 'add', 'x', '--json'])
  const { id } = JSON.parse(lastLine(added.out))
  for (const [args, says] of [
    [['change', id], 'No change is given.'],
    [['change', 'nobody', '--plan', 'large'], "There is no key with the id 'nobody'."],
    [['change', id, '--plan', 'huge'], '--plan'],
    [['change', id, '--rename', ' x'], 'Key name'],
    [['show', 'nobody'], "There is no key with the id 'nobody'."],
    [['rotate', 'nobody'], "There is no key with the id 'nobody'."],
  ] as const) {
    const { code, out, err } = await folder.run(['keys', ...args])
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(says)
  }
})

test('keys rotate: a former key that expires before the grace period ends is said to work until then', async () => {
  await using folder = await cliFolder()
  const { id } = JSON.parse(lastLine((await folder.run(['keys', 'add', 'x', '--expires', '1d', '--json'])).out))
  const show = async () => JSON.parse(lastLine((await folder.run(['keys', 'show', id, '--json'])).out))
  const { expires } = await show()
  const rotated = await folder.run(['keys', 'rotate', id, '--grace', '7d', '--json'])
  expect(JSON.parse(lastLine(rotated.out)).former_until).toBe(expires)
  expect((await show()).former_until).toEqual([expires])
})

test('keys show: after a rotate that was cut off, the former key works until it is revoked', async () => {
  await using folder = await cliFolder()
  const store = openSqlite({ path: join(folder.path, 'keys.sqlite') })
  const { stored } = createKey('x', { perSecond: 1, perDay: 1 }, { now: 1 })
  await store.create()
  await store.keys.add(stored)
  const [holder] = groupHolders([stored])
  if (holder !== undefined) await store.keys.add(nextKey(holder, { now: 2 }).stored)
  await store.close()
  const show = (...more: readonly string[]) =>
    folder.run(['keys', 'show', stored.id, '--store', 'sqlite:keys.sqlite', ...more])
  expect((await show()).out).toContain('Former key: works until it is revoked\n')
  expect(JSON.parse((await show('--json')).out).former_until).toEqual([null])
})
