/** @jsxImportSource @kitajs/html */
import { isAccountName, isContractId, isPossibleName } from '#chain/names.ts'
import { cut, shortened, visible } from '../format/visible.ts'
import { knownName } from '../known-names.ts'
import { hrefTo, type Kind, pathOf } from '../links.ts'
import type { Html, Visit } from '../page.ts'
import { None } from './none.tsx'

type NameProps = {
  readonly visit: Pick<Visit, 'root' | 'home' | 'lang' | 'site'>
  readonly kind: Kind
  readonly id: string | number
  /** The whole of a long name; absent: its begin and end. The whole hash of a transaction is in the link's address alone. */
  readonly isWhole?: boolean
  /** What a part of the chain itself is for stands beside its name, too. */
  readonly isExplained?: boolean
}

/** The name of a thing, which leads to its page, and the label that the operator gave it. */
export const Name = (props: NameProps): Html => {
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

/** Things that are known by the name of an account or the id of a contract. */
const LABELLED: ReadonlySet<Kind> = new Set(['account', 'contract', 'producer'])

/** Things whose names are digits and letters for machines, and look so. */
const CODED: ReadonlySet<Kind> = new Set(['tx', 'block', 'contract'])

const Linked = ({ visit, kind, id, isWhole = false }: NameProps): Html => {
  const name = visible(String(id))
  const shown = isWhole ? name : shortened(name)
  return (
    <a
      class={`name${CODED.has(kind) ? ` ${kind}` : ''}${isWhole ? ' whole' : ''}`}
      href={hrefTo(visit, pathOf(kind, id))}
      title={shown === name || kind === 'tx' ? undefined : name}
    >
      <bdi safe>{shown}</bdi>
    </a>
  )
}

/**
 * An owner of tokens: an account, a contract, a public key or `0`; an empty id is nobody. The chain lets tokens and NFTs be
 * issued to any other text, too, which has no page.
 */
export const Owner = ({ visit, id }: { readonly visit: Visit; readonly id: string }): Html => {
  if (id === '') return <None />
  if (isPossibleName(id))
    return <Name visit={visit} kind={isContractId(id) ? 'contract' : 'account'} id={id} isExplained />
  return <Unlinked id={id} />
}

/** A contract that an action names: one that failed may name any text, which has no page. */
export const Contract = ({ visit, id }: Pick<NameProps, 'visit'> & { readonly id: string }): Html =>
  isContractId(id) ? <Name visit={visit} kind="contract" id={id} /> : <Unlinked id={id} />

/** Letters of a text that a title shows. */
const MOST_TITLE = 120

/** A text of any length in place of a name. */
const Unlinked = ({ id }: { readonly id: string }): Html => {
  const shown = shortened(visible(id))
  return (
    <span class="name" title={shown === visible(id) ? undefined : cut(id, MOST_TITLE)}>
      <bdi safe>{shown}</bdi>
    </span>
  )
}

type LabelProps = {
  readonly visit: Pick<Visit, 'lang' | 'site'>
  readonly id: string
  readonly isExplained?: boolean
}

/** The name of an owner or a contract for people, where it has one. */
export const Label = ({ visit, id, isExplained = true }: LabelProps): Html => {
  const known = knownName(visit, id)
  return known === undefined || !(isExplained || known.by === 'operator') ? (
    ''
  ) : (
    <>
      {' '}
      <small class={known.by === 'operator' ? 'label given' : 'label'}>
        <bdi safe>{visible(known.label[visit.lang])}</bdi>
      </small>
    </>
  )
}

/** A longer name is set smaller in a heading. */
const LONG = 24

/** A text that is copied by a press on the button behind it. */
export const Copied = ({ visit, text }: { readonly visit: Visit; readonly text: string }): Html => (
  <span class={isAccountName(text) ? 'copied' : text.length > LONG ? 'copied code long-name' : 'copied code'}>
    <bdi safe>{visible(text)}</bdi>
    <button type="button" class="copy" data-copy={text}>
      <span class="sr" safe>
        {visit.say({ en: 'Copy', zh: '复制' })}
      </span>
    </button>
  </span>
)
