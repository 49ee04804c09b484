/** @jsxImportSource @kitajs/html */
import { encode } from 'uqr'
import type { Text } from '#actions/define.ts'
import { isAccountName, isContractId, isPossibleName } from '#chain/names.ts'
import { findLabel } from '../find/labels.ts'
import { cut, revealInvisible, shortenName } from '../format/text.ts'
import { formatNftPath, formatPagePath, type PageKind, toHref } from '../links.ts'
import type { Html, Props, Visit } from '../page.ts'
import { None, When } from './amount.tsx'

type NameProps = {
  readonly visit: Pick<Visit, 'root' | 'home' | 'lang' | 'site'>
  readonly kind: PageKind
  readonly id: string | number
  /**
   * Whether to show a long name in full; absent: its beginning and end. The full hash of a transaction is
   * only in the link's address.
   */
  readonly isWhole?: boolean
  /** Whether to show the purpose of a system contract or account as well. */
  readonly isExplained?: boolean
}

/** The name of a thing with a link to its page, and the operator's label for it. */
export function Name(props: NameProps): Html {
  const { visit, kind, id, isExplained = false } = props
  return LABELLED.has(kind) ? (
    <>
      <Linked {...props} />
      <Label visit={visit} id={String(id)} isExplained={isExplained} />
    </>
  ) : (
    <Linked {...props} />
  )
}

/** Things that are identified by the name of an account or the id of a contract. */
const LABELLED: ReadonlySet<PageKind> = new Set(['account', 'contract', 'producer'])

/** Things with machine-made names, which are shown in a monospaced font. */
const CODED: ReadonlySet<PageKind> = new Set(['tx', 'block', 'contract'])

function Linked({ visit, kind, id, isWhole = false }: NameProps): Html {
  const name = revealInvisible(String(id))
  const shown = isWhole ? name : shortenName(name)
  return (
    <a
      class={`name${CODED.has(kind) ? ` ${kind}` : ''}${isWhole ? ' whole' : ''}`}
      href={toHref(visit, formatPagePath(kind, id))}
      title={shown === name || kind === 'tx' ? undefined : name}
    >
      <bdi safe>{shown}</bdi>
    </a>
  )
}

type OwnerProps = {
  readonly visit: Visit
  readonly id: string
  /** The text in place of no owner; absent: the mark for a missing value. */
  readonly none?: Text
}

/**
 * An owner of tokens: an account, a contract, a public key or `0`; an empty id is no owner. The chain also
 * lets tokens and NFTs be issued to any other text, which has no page.
 */
export function Owner({ visit, id, none }: OwnerProps): Html {
  if (id === '' && none !== undefined)
    return (
      <span class="none" safe>
        {none[visit.lang]}
      </span>
    )
  if (id === '') return <None />
  if (isPossibleName(id))
    return <Name visit={visit} kind={isContractId(id) ? 'contract' : 'account'} id={id} isExplained />
  return <Unlinked visit={visit} id={id} isNo={{ en: 'not an account', zh: '非账户' }} />
}

/** A contract in an action. A failed action may name any text, which has no page. */
export const Contract = ({ visit, id }: Pick<NameProps, 'visit'> & { readonly id: string }): Html =>
  isContractId(id) ? (
    <Name visit={visit} kind="contract" id={id} />
  ) : (
    <Unlinked visit={visit} id={id} isNo={{ en: 'not a contract', zh: '非合约' }} />
  )

/** Maximum length of a text in a title attribute. */
const MAX_TITLE = 120

type UnlinkedProps = Pick<NameProps, 'visit'> & {
  readonly id: string
  /** The label that says what the text is not. */
  readonly isNo: Text
}

/**
 * A text of any length without a page, in place of a name. It may look like a name, with a blank at its end or a
 * letter of another script, so it has a label.
 */
function Unlinked({ visit, id, isNo }: UnlinkedProps): Html {
  const shown = shortenName(revealInvisible(id))
  return (
    <>
      <span class="name" title={shown === revealInvisible(id) ? undefined : cut(id, MAX_TITLE)}>
        <bdi safe>{shown}</bdi>
      </span>{' '}
      <small class="label" safe>
        {isNo[visit.lang]}
      </small>
    </>
  )
}

type LabelProps = {
  readonly visit: Pick<Visit, 'lang' | 'site'>
  readonly id: string
  readonly isExplained?: boolean
}

export function Label({ visit, id, isExplained = true }: LabelProps): Html {
  const known = findLabel(visit, id)
  return known === undefined || !(isExplained || known.by === 'operator') ? (
    ''
  ) : (
    <>
      {' '}
      <small class={known.by === 'operator' ? 'label given' : 'label'}>
        <bdi safe>{revealInvisible(known.label[visit.lang])}</bdi>
      </small>
    </>
  )
}

/** The length from which a name in a heading has a smaller font. */
const LONG = 24

export const Copied = ({ visit, text }: Props<{ text: string }>): Html => (
  <span class={isAccountName(text) ? 'copied' : text.length > LONG ? 'copied code long-name' : 'copied code'}>
    <bdi safe>{revealInvisible(text)}</bdi>
    <button type="button" class="copy" data-copy={text}>
      <span class="sr" safe>
        {visit.say({ en: 'Copy', zh: '复制' })}
      </span>
    </button>
  </span>
)

type NftNameProps = {
  readonly visit: Pick<Visit, 'root' | 'home' | 'lang'>
  readonly collection: string
  readonly id: string
}

/**
 * The id of an NFT in its collection, with a link to its page. The collection is shown beside it, or is the
 * page's subject.
 */
export const NftName = ({ visit, collection, id }: NftNameProps): Html => (
  <a class="name nft" href={toHref(visit, formatNftPath(collection, id))}>
    <bdi safe>{`#${shortenName(revealInvisible(id))}`}</bdi>
  </a>
)

type MadeProps = {
  readonly visit: Visit
  /** ISO-8601 UTC. */
  readonly iso: string
  /** Hash of the transaction; `""`: the genesis block created the thing without one. */
  readonly tx: string
}

/** The time of a thing's creation, and the transaction. */
export const Made = ({ visit, iso, tx }: MadeProps): Html => (
  <>
    <When visit={visit} iso={iso} /> {tx !== '' && <Name visit={visit} kind="tx" id={tx} />}
  </>
)

type HeadingProps = {
  readonly visit: Visit
  /** The kind of the page's subject. */
  readonly kind: string
  /** The subject's name on the chain, number or hash; absent: it is not copied and has no label. */
  readonly id?: string
  /** A text in place of the name; `""`: none. */
  readonly alias?: string
}

/** The heading of a page about one thing: its kind, its name with a copy button, and its label. */
export const Heading = ({ visit, kind, id = '', alias = '' }: HeadingProps): Html => (
  <h1>
    <small safe>{kind}</small>
    {alias === '' ? <Copied visit={visit} text={id} /> : <bdi safe>{revealInvisible(alias)}</bdi>}
    <Label visit={visit} id={id} />
  </h1>
)

/** Width of the light border in modules, as readers require (ISO/IEC 18004). */
const BORDER = 4
/** A fixed mask. Evaluating all eight takes seven times as long, on every page, and a name needs only a small code. */
const MASK = 2

type QrCodeProps = { readonly visit: Pick<Visit, 'say'>; readonly text: string }

/** A collapsed QR code of a text, for phones. */
export function QrCode({ visit, text }: QrCodeProps): Html {
  const { data, size } = encode(text, { ecc: 'M', border: BORDER, maskPattern: MASK })
  return (
    <details class="qr">
      <summary safe>{visit.say({ en: 'QR code', zh: '二维码' })}</summary>
      <svg
        viewBox={`0 -0.5 ${size} ${size}`}
        role="img"
        aria-label={visit.say({ en: 'QR code of this name', zh: '此名称的二维码' })}
      >
        <path
          d={data
            .map((row, y) =>
              [...row.map(Number).join('').matchAll(/1+/g)]
                .map(({ index, 0: { length } }) => `M${index} ${y}h${length}`)
                .join(''),
            )
            .join('')}
        ></path>
      </svg>
    </details>
  )
}
