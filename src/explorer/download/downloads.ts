import type { Download } from './download.ts'
import { accountRecords, contractRecords, tokenMovements } from './records.ts'

/** Every file that a page offers, listed by hand. */
export const downloads: readonly Download[] = [accountRecords, contractRecords, tokenMovements]
