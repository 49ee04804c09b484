import { expect, test } from 'bun:test'
import { openFolder } from './folder.ts'

const PART = new Uint8Array(1024 * 1024)

/** A server that responds with this status and a body that never ends. */
function endless(status: number) {
  const cancelled = Promise.withResolvers<void>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () =>
      new Response(
        new ReadableStream({
          pull: to => to.enqueue(PART),
          cancel: () => cancelled.resolve(),
        }),
        { status },
      ),
  })
  return { server, cancelled: cancelled.promise }
}

test('archive folder: a server that sends more bytes than requested is refused, and the rest is not read', async () => {
  const { server, cancelled } = endless(206)
  try {
    await expect(openFolder(String(server.url)).bytes('a.blocks', 0, 10)).rejects.toMatchObject({
      kind: 'damaged',
      message: `Archive file ${server.url}a.blocks: the server returned more than the 10 bytes requested from byte 0 on.`,
    })
    await cancelled
  } finally {
    await server.stop(true)
  }
})

test.each([401, 403])('archive folder: a server that denies a file with %d is not said to have none', async status => {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response(null, { status }) })
  try {
    const { text, bytes } = openFolder(server.url.href)
    const says = (file: string) => ({
      kind: 'usage',
      message: `${server.url.href}${file}: the server answers with status ${status}.`,
      help: expect.stringContaining('user and password'),
    })
    expect(await text('manifest.json').catch(error => error)).toMatchObject(says('manifest.json'))
    expect(await bytes('a.blocks', 0, 1).catch(error => error)).toMatchObject(says('a.blocks'))
  } finally {
    await server.stop(true)
  }
})

test('archive folder: only a file that is not there is said to be none', async () => {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) => new Response(null, { status: url.endsWith('/gone') ? 410 : 400 }),
  })
  try {
    const { text } = openFolder(server.url.href)
    expect(String(await text('gone').catch(error => error))).toContain('it has no gone')
    expect(String(await text('other').catch(error => error))).toContain('answers with status 400')
  } finally {
    await server.stop(true)
  }
})

test('archive folder: an endless text is refused, and the rest is not read', async () => {
  const { server, cancelled } = endless(200)
  try {
    await expect(openFolder(String(server.url)).text('manifest.json')).rejects.toMatchObject({
      kind: 'damaged',
    })
    await cancelled
  } finally {
    await server.stop(true)
  }
})
