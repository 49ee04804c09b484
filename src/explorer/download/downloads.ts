import type { Download } from './download.ts'
import { blockFile, contractFile, subAccountFile, transactionFile } from './histories.ts'
import { accountRecords, contractRecords, tokenMovements } from './records.ts'
import {
  collectionFile,
  collectionOwnerFile,
  holderFile,
  producerFile,
  tokenFile,
  voterFile,
  wealthFile,
} from './states.ts'

/** All files that pages offer, in an explicit list. */
export const downloads: readonly Download[] = [
  ...[accountRecords, contractRecords, tokenMovements],
  ...[blockFile, transactionFile, contractFile, subAccountFile],
  ...[holderFile, wealthFile, voterFile, tokenFile, producerFile],
  ...[collectionFile, collectionOwnerFile],
]
