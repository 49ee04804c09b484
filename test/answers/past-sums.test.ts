import { pastSums } from './past-sums.ts'

pastSums({ count: 12, every: 1 })
