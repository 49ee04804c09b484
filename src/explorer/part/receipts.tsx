/** @jsxImportSource @kitajs/html */
import { partsOfFuncName } from '#chain/effects.ts'
import { actionText } from '../format/action-name.ts'
import type { CalledAction } from '../format/arguments.ts'
import { byAction, type CallTree, nested, type Receipt } from '../format/calls.ts'
import type { Html, Visit } from '../page.ts'
import { Card } from './card.tsx'
import { More } from './more.tsx'
import { Contract } from './name.tsx'
import { rawHref } from './raw.tsx'
import { ChainText } from './text.tsx'

type ReceiptsProps = {
  readonly visit: Visit
  readonly actions: readonly CalledAction[]
  readonly receipts: readonly Receipt[]
  /** Maximum number of displayed receipts. */
  readonly most: number
}

/** The receipts of a transaction, by action and with those of inner calls nested, as far as that can be derived. */
export const Receipts = ({ visit, actions, receipts, most }: ReceiptsProps): Html => {
  const { say } = visit
  const roots = nested(receipts.slice(0, most))
  const divided =
    actions.length > 1 && Math.max(actions.length, receipts.length) <= most ? byAction(actions, roots) : undefined
  return (
    <Card visit={visit} id="receipts" title={say({ en: 'Calls and receipts', zh: '调用与收据' })}>
      {roots.length === 0 ? (
        <p class="none" safe>
          {say({ en: 'No receipts.', zh: '没有收据。' })}
        </p>
      ) : divided === undefined ? (
        <Tree visit={visit} calls={roots} />
      ) : (
        <div>
          {divided.map((calls, at) =>
            calls.length === 0 ? (
              ''
            ) : (
              <section class="called">
                <h3>
                  <a href={`#action-${at + 1}`} safe>
                    {say({ en: `Action ${at + 1}`, zh: `方法 ${at + 1}` })}
                  </a>
                </h3>
                <Tree visit={visit} calls={calls} />
              </section>
            ),
          )}
        </div>
      )}
      {roots.length > 0 && actions.length > 1 && divided === undefined && (
        <p class="none" safe>
          {say({
            en: 'In the order of the chain, which does not say which action each belongs to.',
            zh: '按链上顺序排列；链上未记录各收据所属的方法。',
          })}
        </p>
      )}
      <More visit={visit} shown={most} total={receipts.length} whole={rawHref(visit)} />
    </Card>
  )
}

type TreeProps = { readonly visit: Visit; readonly calls: readonly CallTree[] }

const Tree = ({ visit, calls }: TreeProps): Html => (
  <ul class="call-tree">
    {calls.map(({ func_name, content, inner }) => (
      <li>
        <Writer visit={visit} func={func_name} /> <ChainText visit={visit} text={content} whole={rawHref(visit)} />
        {inner.length !== 0 && <Tree visit={visit} calls={inner} />}
      </li>
    ))}
  </ul>
)

const Writer = ({ visit, func }: { readonly visit: Visit; readonly func: string }): Html => {
  const { contract, name } = partsOfFuncName(func)
  return (
    <span class="what">
      <Contract visit={visit} id={contract} /> <bdi safe>{actionText(name)}</bdi>
    </span>
  )
}
