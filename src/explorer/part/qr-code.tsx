/** @jsxImportSource @kitajs/html */
import { encode } from 'uqr'
import type { Html, Visit } from '../page.ts'

/** Light modules around a code, which readers need (ISO/IEC 18004). */
const BORDER = 4

type QrCodeProps = { readonly visit: Pick<Visit, 'say'>; readonly text: string }

/** A text as a QR code, which a phone reads off the screen; seen after one press. */
export const QrCode = ({ visit, text }: QrCodeProps): Html => {
  const { data, size } = encode(text, { ecc: 'M', border: BORDER })
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

/** The dark modules of a row: a line of a module's width through the middle of each run of them. */
const runsOf = (row: readonly boolean[], y: number): string =>
  [...row.map(Number).join('').matchAll(/1+/g)]
    .map(({ index, 0: { length } }) => `M${index} ${y}h${length}`)
    .join('')
