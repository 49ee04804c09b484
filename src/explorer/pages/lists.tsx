/** @jsxImportSource @kitajs/html */

import { getBlockList } from '#actions/get-block.ts'
import { getContractList } from '#actions/get-contract.ts'
import { getCollectionList } from '#actions/get-nft.ts'
import { getBaseTokenList } from '#actions/get-token.ts'
import { getTransactionList } from '#actions/get-transaction.ts'
import { blockFile, collectionFile, contractFile, tokenFile, transactionFile } from '../download/downloads.ts'
import { readPublishedMovements } from '../find/movements.ts'
import { formatCountedNoun, formatGrouped } from '../format/amount.ts'
import type { Page } from '../page.ts'
import { Ago, Count } from '../part/amount.tsx'
import { createListPage, readGivenPage } from '../part/list.tsx'
import { Name, Owner } from '../part/name.tsx'
import { ChainText } from '../part/text.tsx'
import { createBlockTable, createTransactionTable } from '../part/transactions.tsx'

export const blocksPage: Page = {
  path: '/blocks',
  show: async visit => {
    const { blocks, total } = await visit.ask(getBlockList, readGivenPage(visit))
    return createListPage(visit, {
      title: { en: 'Blocks', zh: '区块' },
      lead: {
        en: `${formatCountedNoun(total, 'block')}, newest first.`,
        zh: `共 ${formatGrouped(String(total))} 个区块，最新的在前。`,
      },
      total,
      file: blockFile,
      rows: blocks,
      ...createBlockTable(visit, false),
    })
  },
}

export const transactionsPage: Page = {
  path: '/transactions',
  show: async visit => {
    const { transactions, total } = await visit.ask(getTransactionList, readGivenPage(visit))
    const moved = await readPublishedMovements(
      visit,
      transactions.map(({ tx_hash }) => tx_hash),
    )
    return createListPage(visit, {
      title: { en: 'Transactions', zh: '交易' },
      lead: {
        en: `${formatCountedNoun(total, 'transaction')}, newest first.`,
        zh: `共 ${formatGrouped(String(total))} 笔交易，最新的在前。`,
      },
      total,
      file: transactionFile,
      rows: transactions,
      ...createTransactionTable(visit, { moved }),
    })
  },
}

export const tokensPage: Page = {
  path: '/tokens',
  show: async visit => {
    const { tokens, total } = await visit.ask(getBaseTokenList, readGivenPage(visit))
    return createListPage(visit, {
      title: { en: 'Tokens', zh: '代币' },
      lead: {
        en: `${formatCountedNoun(total, 'token')}, most holders first.`,
        zh: `共 ${formatGrouped(String(total))} 种代币，按持有者数降序。`,
      },
      description: {
        en: `${formatCountedNoun(total, 'token')} of the IOST chain with holders, issuers and supplies.`,
        zh: `IOST 链上的全部 ${total} 种代币：持有者数、发行者与供应量。`,
      },
      total,
      file: tokenFile,
      rows: tokens,
      none: { en: 'No tokens.', zh: '没有代币。' },
      columns: [
        ['Token', '代币', row => <Name visit={visit} kind="token" id={row.symbol} />],
        ['Full name', '全名', row => <ChainText visit={visit} text={row.full_name} isProse />, 'end'],
        ['Issuer', '发行者', row => <Owner visit={visit} id={row.issuer} />],
        ['Created', '创建时间', row => <Ago visit={visit} iso={row.created_at} />],
        ['Holders', '持有者数', row => <Count value={row.holder_count} />, 'digits'],
        ['Supply', '供应量', row => <Count value={row.current_supply} />, 'digits'],
      ],
    })
  },
}

export const collectionsPage: Page = {
  path: '/nfts',
  show: async visit => {
    const { collections, total } = await visit.ask(getCollectionList, readGivenPage(visit))
    return createListPage(visit, {
      title: { en: 'NFT collections', zh: 'NFT 合集' },
      lead: {
        en: `${formatCountedNoun(total, 'collection')}, most NFTs first.`,
        zh: `共 ${formatGrouped(String(total))} 个合集，按已发行的 NFT 数量降序。`,
      },
      description: {
        en: `${formatCountedNoun(total, 'NFT collection')} of the IOST chain with issuers, NFTs and owners.`,
        zh: `IOST 链上的全部 ${total} 个 NFT 合集：发行者、NFT 数量与持有者数。`,
      },
      total,
      file: collectionFile,
      rows: collections,
      none: { en: 'No NFTs.', zh: '没有 NFT。' },
      columns: [
        ['Collection', '合集', row => <Name visit={visit} kind="nft" id={row.collection} />],
        ['Issuer', '发行者', row => <Owner visit={visit} id={row.issuer} />],
        ['Created', '创建时间', row => <Ago visit={visit} iso={row.created_at} />],
        ['NFTs', 'NFT 数量', row => <Count value={row.issued} />, 'digits end'],
        ['Owners', '持有者数', row => <Count value={row.owner_count} />, 'digits'],
      ],
    })
  },
}

export const contractsPage: Page = {
  path: '/contracts',
  show: async visit => {
    const { contracts, total } = await visit.ask(getContractList, readGivenPage(visit))
    return createListPage(visit, {
      title: { en: 'Contracts', zh: '合约' },
      lead: {
        en: `${formatCountedNoun(total, 'contract')}, newest first. Those whose id ends in .iost are system contracts.`,
        zh: `共 ${formatGrouped(String(total))} 个合约，最新的在前；ID 以 .iost 结尾的是系统合约。`,
      },
      total,
      file: contractFile,
      rows: contracts,
      none: { en: 'No contracts.', zh: '没有合约。' },
      columns: [
        ['Contract', '合约', row => <Name visit={visit} kind="contract" id={row.contract_id} />],
        ['Deployed', '部署时间', row => <Ago visit={visit} iso={row.created_at} />, 'end'],
        ['Publisher', '部署者', row => <Owner visit={visit} id={row.publisher} />],
        ['Records', '记录数', row => <Count value={row.records} />, 'digits'],
      ],
    })
  },
}
