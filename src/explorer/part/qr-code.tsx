/** @jsxImportSource @kitajs/html */
import { encode } from 'uqr'
import type { Html, Visit } from '../page.ts'

/** Width of the light border in modules, as readers require (ISO/IEC 18004). */
const BORDER = 4
/** A fixed mask. Evaluating all eight takes seven times as long, on every page, and a name needs only a small code. */
const MASK = 2

type QrCodeProps = { readonly visit: Pick<Visit, 'say'>; readonly text: string }

/** A collapsed QR code of a text, for phones. */
export const QrCode = ({ visit, text }: QrCodeProps): Html => {
  const { data, size } = encode(text, { ecc: 'M', border: BORDER, maskPattern: MASK })
  return (
    <details class="qr">
      <summary safe>{visit.say({ en: 'QR code', zh: '二维码' })}</summary>
      <svg
        viewBox={`0 -0.5 ${size} ${size}`}
        role="img"
        aria-label={visit.say({ en: 'QR code of this name', zh: '此名称的二维码' })}
      >
        <path d={data.map(runsOf).join('')}></path>
      </svg>
    </details>
  )
}

/** The dark modules of a row as a path: a line of a module's width through the middle of each run. */
const runsOf = (row: readonly boolean[], y: number): string =>
  [...row.map(Number).join('').matchAll(/1+/g)].map(({ index, 0: { length } }) => `M${index} ${y}h${length}`).join('')
