import { setDefaultTimeout } from 'bun:test'
import { pastSums } from './past-sums.ts'

// Rankings at many heights; a test that hangs still ends.
setDefaultTimeout(600_000)

pastSums({ count: 12, every: 1 })
