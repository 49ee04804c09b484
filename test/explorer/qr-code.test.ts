import { expect, setDefaultTimeout, test } from 'bun:test'
import jsQR from 'jsqr'
import { explorerOn } from './served.ts'

// The first test may have to build the file of the whole chain. A test that hangs still ends.
setDefaultTimeout(600_000)

/** Pixels per module. */
const SCALE = 4

/** The text that a QR reader decodes from the drawing of a page. */
function readFrom(html: string): string | undefined {
  const [, size = '', path = ''] =
    /<details class="qr">.*?viewBox="0 -0\.5 (\d+) \1".*?<path d="([^"]*)">/s.exec(html) ?? []
  const side = Number(size) * SCALE
  const pixels = new Uint8ClampedArray(side * side * 4).fill(255)
  for (const [, x, y, length] of path.matchAll(/M(\d+) (\d+)h(\d+)/g))
    for (let row = Number(y) * SCALE; row < (Number(y) + 1) * SCALE; row++) {
      const from = (row * side + Number(x) * SCALE) * 4
      for (let at = from; at < from + Number(length) * SCALE * 4; at += 4) pixels.fill(0, at, at + 3)
    }
  return jsQR(pixels, side, side)?.data
}

test('QR code: a reader decodes the name of the page, for every kind of owner', async () => {
  const { visit, call } = await explorerOn()
  const { contracts } = await call<{ readonly contracts: readonly { readonly contract_id: string }[] }>(
    'base/get-contract-list',
  )
  const eth = '0x1a77584e7e8880584b18ce251b507273e9751903'
  const names = ['admin', '__proto__', '12345', 'vote.iost', '0', eth, contracts[0]?.contract_id ?? '']
  for (const name of names) {
    const { html, response } = await visit(`/account/${name}`)
    expect([name, response.status, readFrom(html)]).toEqual([name, 200, name])
    expect(readFrom((await visit(`/zh/account/${name}`)).html)).toBe(name)
  }
})
