// SPDX-License-Identifier: Apache-2.0
// The grid of OpenVINO's CPU tests of ExtractImagePatches-3: images (1, 1, 10, 10) and (1, 3, 10, 10) with five sizes, five
// strides, four rates and three paddings. oracle.py makes the extents and the fingerprints of the patches of the image 1, 2,
// 3, ..
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

struct Expected {
  std::int64_t rows, columns;
  std::uint64_t one_channel, three_channels;
};

// In the order of the loops below: sizes, strides, rates, paddings.
const Expected expected[] = {
    {3, 3, 0x78130f67ebab8485u, 0x3c2ccbc4f5b14721u},  {4, 4, 0x4c04591ff6989157u, 0xc1cea8cfe7b2bbe8u},
    {4, 4, 0x5587873ab1eb20d6u, 0x67ad18102297d671u},  {3, 3, 0xae4e09de4976c5d9u, 0x144d7233708dc86du},
    {4, 4, 0x500be525438655b2u, 0x3dcd1b78f3479b21u},  {4, 4, 0xc1bd9dbf54fdf6e6u, 0x9d78b3921bc8fa76u},
    {3, 3, 0xfe712c8a7f0aa9ddu, 0x971b1b73931b98bdu},  {4, 4, 0x999ffcae7fcf9327u, 0x99512fe624276fa3u},
    {4, 4, 0xd811ec8579f61073u, 0x871831fa2175ee74u},  {3, 3, 0xf3c15b3c0cf4095u, 0x9b71adeba47b572au},
    {4, 4, 0x775c70084cf6e231u, 0x8bd5bbc9b718d112u},  {4, 4, 0x775c70084cf6e231u, 0x8bd5bbc9b718d112u},
    {2, 2, 0x996fc8253c97b825u, 0x7b2f8c3e5a52d9f1u},  {2, 2, 0x996fc8253c97b825u, 0x7b2f8c3e5a52d9f1u},
    {2, 2, 0x996fc8253c97b825u, 0x7b2f8c3e5a52d9f1u},  {2, 2, 0x70351f943593702du, 0x98ab9a1924555fa9u},
    {2, 2, 0x70351f943593702du, 0x98ab9a1924555fa9u},  {2, 2, 0x70351f943593702du, 0x98ab9a1924555fa9u},
    {2, 2, 0xaf9433bd5389e06du, 0xc051c37c69e956b9u},  {2, 2, 0xaf9433bd5389e06du, 0xc051c37c69e956b9u},
    {2, 2, 0xaf9433bd5389e06du, 0xc051c37c69e956b9u},  {2, 2, 0x29b97ade3d3b4f25u, 0x6223aa95850324e9u},
    {2, 2, 0x29b97ade3d3b4f25u, 0x6223aa95850324e9u},  {2, 2, 0x29b97ade3d3b4f25u, 0x6223aa95850324e9u},
    {1, 1, 0x9a9f41527c4ba21u, 0x89ce398be0e22879u},   {2, 2, 0x45968ff0af476e09u, 0xb3b8936fcfc9b9ddu},
    {2, 2, 0xca3bdfdaa3ad2f1cu, 0x36ee5edced60bb23u},  {1, 1, 0xb15038c9c9f3be21u, 0x28ec53fcf2f1e4b9u},
    {2, 2, 0xa1e0b476d516c53au, 0xa521ce6908a054c2u},  {2, 2, 0xa4f4f201c8fc13aeu, 0x2895eb50c261aabau},
    {1, 1, 0xa5a8e8b38464b765u, 0xab513aa2925c3225u},  {2, 2, 0x3c167ef7e0a220bbu, 0x455cb730db17455cu},
    {2, 2, 0x428672cd70f7faefu, 0xb85306b62a6a3a50u},  {1, 1, 0x4d4f2d682693bb65u, 0xfbd5225990ecf065u},
    {2, 2, 0x93b9761f30a30c31u, 0x591c8c392eef631du},  {2, 2, 0x93b9761f30a30c31u, 0x591c8c392eef631du},
    {9, 3, 0xe4a08e68432dc8edu, 0xfc9cc83c7711f2b5u},  {10, 4, 0xda635b4b37af433bu, 0xae4ea8a73bbdd148u},
    {10, 4, 0x569e25808bcd8b42u, 0x7d48c051778b3352u}, {9, 3, 0x7188a313eb10b191u, 0xcf873eae5cb82899u},
    {10, 4, 0xfd61e9ddfa9fb27au, 0x6dc83724baa8ed66u}, {10, 4, 0x10cb02c961d14946u, 0xbab5398d950d6eb6u},
    {8, 3, 0xea4800ab2db29c25u, 0x46e9e2a14a8cba1u},   {10, 4, 0xb79654844a29883fu, 0x8e31e38d4bb128d8u},
    {10, 4, 0xdd820a100eef0483u, 0xf8a90c150c5bc80cu}, {8, 3, 0x49f7d0e925928c5u, 0xe13128678adb85d5u},
    {10, 4, 0x1ca110558457aad9u, 0x94d43ef96403465du}, {10, 4, 0x1ca110558457aad9u, 0x94d43ef96403465du},
    {2, 5, 0xc1b3f9a3b8188f5du, 0xb6c8e3f68ac783adu},  {2, 5, 0xc1b3f9a3b8188f5du, 0xb6c8e3f68ac783adu},
    {2, 5, 0xc1b3f9a3b8188f5du, 0xb6c8e3f68ac783adu},  {2, 4, 0x6cca554dca5bb2c5u, 0x7c0eed3b9116b8edu},
    {2, 5, 0x93b36707de780b2du, 0x79472fb1eac6d55du},  {2, 5, 0xaa844d4486631115u, 0x512225726630fb3du},
    {2, 5, 0xba8f350dda02cc55u, 0xddba7f41a987e355u},  {2, 5, 0xba8f350dda02cc55u, 0xddba7f41a987e355u},
    {2, 5, 0xba8f350dda02cc55u, 0xddba7f41a987e355u},  {2, 4, 0x2362973e789a18d5u, 0x744ac02c9e3b8215u},
    {2, 5, 0xdbf6f75aec45a9edu, 0xb7c5c5c04263ebd5u},  {2, 5, 0x69fa605d8acceeddu, 0x702968fb60ca6f15u},
    {3, 3, 0x9bc1fc4c2eec2dd4u, 0x2d1e73110ad10e8bu},  {4, 4, 0xf00c0926951b1881u, 0x936b17b75b414ca2u},
    {4, 4, 0xf00c0926951b1881u, 0x936b17b75b414ca2u},  {3, 2, 0x1491617103f3e8c8u, 0xb4f50871a49d9e74u},
    {4, 4, 0x62b6aafa27011c1u, 0x68af68027dab5ad6u},   {4, 4, 0x62b6aafa27011c1u, 0x68af68027dab5ad6u},
    {2, 3, 0xc46754a6fbc1fe53u, 0xf2e15d615f0cc03cu},  {4, 4, 0x94bd3f2d14132b81u, 0x9f55e28b125f7082u},
    {4, 4, 0x94bd3f2d14132b81u, 0x9f55e28b125f7082u},  {2, 2, 0x382fe86f8df61005u, 0xdfe5ad3751c1a9d5u},
    {4, 4, 0x41952c169dba69c1u, 0xbf3e3b71ddc462aeu},  {4, 4, 0x41952c169dba69c1u, 0xbf3e3b71ddc462aeu},
    {2, 2, 0xb9f0542cbdfcd585u, 0x51908b8d5ac805e6u},  {2, 2, 0xb9f0542cbdfcd585u, 0x51908b8d5ac805e6u},
    {2, 2, 0xb9f0542cbdfcd585u, 0x51908b8d5ac805e6u},  {2, 2, 0x2fd86f391b3f7ee1u, 0xf63d8f5c6086d402u},
    {2, 2, 0x2fd86f391b3f7ee1u, 0xf63d8f5c6086d402u},  {2, 2, 0x2fd86f391b3f7ee1u, 0xf63d8f5c6086d402u},
    {2, 2, 0x2c3ecedea4b27f05u, 0x7081329c1731fe32u},  {2, 2, 0x2c3ecedea4b27f05u, 0x7081329c1731fe32u},
    {2, 2, 0x2c3ecedea4b27f05u, 0x7081329c1731fe32u},  {2, 2, 0x5d1ae449a3e37a01u, 0x2bb94f3fd58a1666u},
    {2, 2, 0x5d1ae449a3e37a01u, 0x2bb94f3fd58a1666u},  {2, 2, 0x5d1ae449a3e37a01u, 0x2bb94f3fd58a1666u},
    {1, 1, 0x6d59970a02a2171bu, 0x65b5cd35b58dc8efu},  {2, 2, 0x8f2ca85f7c5e78e5u, 0xe498c5d3a8371719u},
    {2, 2, 0x8f2ca85f7c5e78e5u, 0xe498c5d3a8371719u},  {1, 1, 0xca859292e6088ab0u, 0x22bb227ff0308494u},
    {2, 2, 0x4b6ba33180c83aa5u, 0xd67bc066d1365c9du},  {2, 2, 0x4b6ba33180c83aa5u, 0xd67bc066d1365c9du},
    {1, 1, 0x42c4197aedacfc39u, 0x6f77ce3e41f38e0du},  {2, 2, 0xb051b0fe644ad2f5u, 0x1ddbc19d017a0791u},
    {2, 2, 0xb051b0fe644ad2f5u, 0x1ddbc19d017a0791u},  {1, 1, 0x48f54c6df739bad6u, 0x2dbc78c499b02eaau},
    {2, 2, 0x1ea74da9d17674b5u, 0x78b588b5e170de9du},  {2, 2, 0x1ea74da9d17674b5u, 0x78b588b5e170de9du},
    {8, 3, 0x8a9aeb9b93d57bd5u, 0x5bc4bab026e57daeu},  {10, 4, 0x410c4fe086fa5eb5u, 0x9b805b4290e38b3au},
    {10, 4, 0x410c4fe086fa5eb5u, 0x9b805b4290e38b3au}, {8, 2, 0x7fbadc9490861bc5u, 0x5f2f7ad54bc20719u},
    {10, 4, 0x1f9ed4a5f54939b5u, 0xaa840e5ae46ada2au}, {10, 4, 0x1f9ed4a5f54939b5u, 0xaa840e5ae46ada2au},
    {6, 3, 0x9f56838ff36b739fu, 0xaaa982ac0b032797u},  {10, 4, 0x13886c4ed33dc061u, 0xcda2fa11234620e2u},
    {10, 4, 0x13886c4ed33dc061u, 0xcda2fa11234620e2u}, {6, 2, 0xfcb732cb9dbdc27du, 0xc9b8d63275b23689u},
    {10, 4, 0xf9776f8af57a7261u, 0xdb753ab4b58c5496u}, {10, 4, 0xf9776f8af57a7261u, 0xdb753ab4b58c5496u},
    {2, 4, 0xe05f17f0f6dc6235u, 0xa5eeb2aee20e149du},  {2, 5, 0xfc13e9038ecb400du, 0xb126c5d23063399du},
    {2, 5, 0x546c10bd1bda000du, 0xc819997f1d15e40du},  {2, 3, 0x155054ff96fd79e9u, 0xec778fa970149e86u},
    {2, 5, 0x6c59f5b32653d361u, 0x42bec815e791eb4eu},  {2, 5, 0x8d61a1ea6af0ea69u, 0x5b038eeb8e087cd6u},
    {1, 4, 0x4a708dc7743f40a5u, 0xbc551a359dbea625u},  {2, 5, 0x8237246977f628au, 0x2c3a68a51321dd4du},
    {2, 5, 0xaed6a39153ddcea6u, 0x14fb40345ae78bbeu},  {1, 3, 0xcbd0b8af9ed8826cu, 0xe46e568e55fd8350u},
    {2, 5, 0x27ecb18b5ddd3c66u, 0x54fcbf95a76cd3f5u},  {2, 5, 0x5f8a9a1d25e4371fu, 0xc0cf6c71bf0a3263u},
    {3, 3, 0xdd7beadfe1d0965u, 0x66b4a8a9069024a1u},   {4, 4, 0xa72b7ebaad9572b7u, 0x383fb67d6c70f918u},
    {4, 4, 0x5ed086d1d5370296u, 0x31507c9ae57b6c6du},  {3, 2, 0x4af4314c5584fe35u, 0x32fd8031314f1239u},
    {4, 4, 0xa0830d9679b156e5u, 0xa9595c21c2e1f7ddu},  {4, 4, 0x79d399f0a87167edu, 0xc4f7105e0217ae29u},
    {2, 3, 0xd0c579ef36619165u, 0xa41076d239d4ce39u},  {4, 4, 0x3b1fcc136368b43du, 0xfe51440422d7808au},
    {4, 4, 0x95c6e7d26f184cd5u, 0x3b5240610b5c2cc9u},  {2, 2, 0x12c2423e5785a2c5u, 0x8b846f1d4b47ba5du},
    {4, 4, 0xf9a6c99448aaaba5u, 0x218294efc3610du},    {4, 4, 0xf9a6c99448aaaba5u, 0x218294efc3610du},
    {2, 2, 0x2e4dfc234bfe6825u, 0x9944a3e0a377a74du},  {2, 2, 0x2e4dfc234bfe6825u, 0x9944a3e0a377a74du},
    {2, 2, 0x2e4dfc234bfe6825u, 0x9944a3e0a377a74du},  {2, 1, 0xeadfcceed6dfd745u, 0x83085ecf4254334au},
    {2, 2, 0x31f16f64b7275a85u, 0x179cb9ee6c1cd31au},  {2, 2, 0x31f16f64b7275a85u, 0x179cb9ee6c1cd31au},
    {1, 2, 0x2532c7d4e29a3a15u, 0xfacd6a3aa4564df5u},  {2, 2, 0x1ab6bbac947cdba5u, 0x6caaff5858ba6535u},
    {2, 2, 0x1ab6bbac947cdba5u, 0x6caaff5858ba6535u},  {1, 1, 0x300209c9767f09a5u, 0xaf221700a1aaeaa5u},
    {2, 2, 0x66057918d1ce9499u, 0xd80ab05d247251cau},  {2, 2, 0x66057918d1ce9499u, 0xd80ab05d247251cau},
    {1, 1, 0xfe7d313fab7b3a55u, 0x207ca43386ee4735u},  {2, 2, 0xd8dc9ac4912127bu, 0xa7f56d98dd661dfcu},
    {2, 2, 0x8a56b11586739d12u, 0xdeb3bcf45ce7449eu},  {1, 1, 0x342935bdb9f5e705u, 0x1b963823c5b0fad5u},
    {2, 2, 0xcd439d0a6e1d8be5u, 0x58f30a61ef173efdu},  {2, 2, 0x102fd5565aac456du, 0x402afcf204cfdab1u},
    {1, 1, 0x58f900a1174ef515u, 0x8b0e36abec20ed71u},  {2, 2, 0x4c33ce6017fddf7du, 0x8f7db46e9f41a295u},
    {2, 2, 0x5092b2a8a68a4ad5u, 0xc3467751866dbaa5u},  {1, 1, 0x300209c9767f09a5u, 0xaf221700a1aaeaa5u},
    {2, 2, 0xa38eb7fc64c11255u, 0xe6847dcc115e266du},  {2, 2, 0xa38eb7fc64c11255u, 0xe6847dcc115e266du},
    {7, 3, 0x16e852dcf84f13f5u, 0x23b4a10c6d30940du},  {10, 4, 0x687604f93d9cab5u, 0x59ef77fe05d128c2u},
    {10, 4, 0x91536f01cf0ff955u, 0xdd44bda08c4e884au}, {7, 2, 0x9f408c0dbc37bc35u, 0x3550134f7dc44835u},
    {10, 4, 0x1cae234970389f25u, 0xec555cb98b009cd5u}, {10, 4, 0x5773f92d00bf97a5u, 0xec976d43c5eed795u},
    {4, 3, 0x87fccdfa577fe025u, 0x24681df1e0a6ecf5u},  {10, 4, 0xa89cbf8969a2d53du, 0x6a91935ba146e381u},
    {10, 4, 0xf6696f8c8a227c25u, 0x2cb1bb7a0fb876du},  {4, 2, 0xc3dd6e3686dea3e5u, 0xa36ef6e50b2003ddu},
    {10, 4, 0x3ce4512c128592b5u, 0xd106c47a9219d57du}, {10, 4, 0x3ce4512c128592b5u, 0xd106c47a9219d57du},
    {2, 4, 0xe713ab4f795a405u, 0xf41b118f808aa125u},   {2, 5, 0x3687533c35878fd5u, 0x317e2109ad595e45u},
    {2, 5, 0x3687533c35878fd5u, 0x317e2109ad595e45u},  {2, 2, 0xf9cc7f72b4c74645u, 0x395a1db80a7c70d5u},
    {2, 5, 0xb71cdb35330ec075u, 0x28fd95cebac6ef45u},  {2, 5, 0x210a918095c729b5u, 0xc4d34f3c6a857605u},
    {1, 4, 0x72e00a3d7894f525u, 0xb7bca332c9cd1d65u},  {2, 5, 0xec19e5072ec9c235u, 0xe2cbbe64c4c2f425u},
    {2, 5, 0xdc4b69ec258672c5u, 0xe20b16d31ff4f475u},  {1, 2, 0x9a3ff65af8774385u, 0x2a7a6882e19dc315u},
    {2, 5, 0x330050636f78a515u, 0xd6005b9955e02c85u},  {2, 5, 0xb367aca14a89a4c5u, 0xb81a98f7e0feabd9u},
    {4, 3, 0xcc3ced9ca3d5ba9du, 0x556514956faf5431u},  {4, 4, 0xf6dc02f6d7d656ddu, 0xa146329b9ee4755u},
    {4, 4, 0xf6dc02f6d7d656ddu, 0xa146329b9ee4755u},   {4, 2, 0xc2d714b7117307d5u, 0xb82b83054c4a7759u},
    {4, 4, 0x4c7258a18068031du, 0x6ca80520173f0e25u},  {4, 4, 0x4c7258a18068031du, 0x6ca80520173f0e25u},
    {4, 3, 0xcc3ced9ca3d5ba9du, 0x556514956faf5431u},  {4, 4, 0xf6dc02f6d7d656ddu, 0xa146329b9ee4755u},
    {4, 4, 0xf6dc02f6d7d656ddu, 0xa146329b9ee4755u},   {4, 2, 0xc2d714b7117307d5u, 0xb82b83054c4a7759u},
    {4, 4, 0x4c7258a18068031du, 0x6ca80520173f0e25u},  {4, 4, 0x4c7258a18068031du, 0x6ca80520173f0e25u},
    {2, 2, 0x2b34ebf59a177aa5u, 0x102d98f459d504aau},  {2, 2, 0x2b34ebf59a177aa5u, 0x102d98f459d504aau},
    {2, 2, 0x2b34ebf59a177aa5u, 0x102d98f459d504aau},  {2, 2, 0x6492a58189e4f969u, 0x3e9139f2ce3f7bceu},
    {2, 2, 0x6492a58189e4f969u, 0x3e9139f2ce3f7bceu},  {2, 2, 0x6492a58189e4f969u, 0x3e9139f2ce3f7bceu},
    {2, 2, 0x2b34ebf59a177aa5u, 0x102d98f459d504aau},  {2, 2, 0x2b34ebf59a177aa5u, 0x102d98f459d504aau},
    {2, 2, 0x2b34ebf59a177aa5u, 0x102d98f459d504aau},  {2, 2, 0x6492a58189e4f969u, 0x3e9139f2ce3f7bceu},
    {2, 2, 0x6492a58189e4f969u, 0x3e9139f2ce3f7bceu},  {2, 2, 0x6492a58189e4f969u, 0x3e9139f2ce3f7bceu},
    {2, 1, 0x5a4136814d949fbfu, 0x157d4b571a01f890u},  {2, 2, 0x85ddf053da154925u, 0x5046ec9d17bfacf9u},
    {2, 2, 0x85ddf053da154925u, 0x5046ec9d17bfacf9u},  {2, 1, 0x5fabae304c96bd5bu, 0x9b5bf6251456262cu},
    {2, 2, 0x4f17f5be369e42a5u, 0x11fd5e364bc809f9u},  {2, 2, 0x4f17f5be369e42a5u, 0x11fd5e364bc809f9u},
    {2, 1, 0x5a4136814d949fbfu, 0x157d4b571a01f890u},  {2, 2, 0x85ddf053da154925u, 0x5046ec9d17bfacf9u},
    {2, 2, 0x85ddf053da154925u, 0x5046ec9d17bfacf9u},  {2, 1, 0x5fabae304c96bd5bu, 0x9b5bf6251456262cu},
    {2, 2, 0x4f17f5be369e42a5u, 0x11fd5e364bc809f9u},  {2, 2, 0x4f17f5be369e42a5u, 0x11fd5e364bc809f9u},
    {10, 3, 0xd65f3aae2599b2fu, 0x8966f41ff08135b3u},  {10, 4, 0xe44ba2c76a7d601u, 0x78b2b8e4aa37faeeu},
    {10, 4, 0xe44ba2c76a7d601u, 0x78b2b8e4aa37faeeu},  {10, 2, 0x10a340dead12c08du, 0x25c4a0211de56be5u},
    {10, 4, 0x78a0535546b42c1u, 0x5740c1150210ad5au},  {10, 4, 0x78a0535546b42c1u, 0x5740c1150210ad5au},
    {10, 3, 0xd65f3aae2599b2fu, 0x8966f41ff08135b3u},  {10, 4, 0xe44ba2c76a7d601u, 0x78b2b8e4aa37faeeu},
    {10, 4, 0xe44ba2c76a7d601u, 0x78b2b8e4aa37faeeu},  {10, 2, 0x10a340dead12c08du, 0x25c4a0211de56be5u},
    {10, 4, 0x78a0535546b42c1u, 0x5740c1150210ad5au},  {10, 4, 0x78a0535546b42c1u, 0x5740c1150210ad5au},
    {2, 4, 0x3dd1402f15e1d725u, 0xb5e12fc0f6b87075u},  {2, 5, 0xa7a195146c08745u, 0x4a36c9793d15ae05u},
    {2, 5, 0xbb29dea843d0c545u, 0x27c8d51eb3b8469du},  {2, 3, 0x11f64c47766b68f1u, 0xded79432c4849b22u},
    {2, 5, 0xd3219a251f310bf9u, 0xa1a97eded175577eu},  {2, 5, 0xd14992e0dce4eba9u, 0xdf218cc1b8ba6beu},
    {2, 4, 0x3dd1402f15e1d725u, 0xb5e12fc0f6b87075u},  {2, 5, 0xa7a195146c08745u, 0x4a36c9793d15ae05u},
    {2, 5, 0xbb29dea843d0c545u, 0x27c8d51eb3b8469du},  {2, 3, 0x11f64c47766b68f1u, 0xded79432c4849b22u},
    {2, 5, 0xd3219a251f310bf9u, 0xa1a97eded175577eu},  {2, 5, 0xd14992e0dce4eba9u, 0xdf218cc1b8ba6beu},
    {3, 3, 0xa8972b3e38dae7f5u, 0x1be07b2b71467175u},  {4, 4, 0x8b457863557c5ed7u, 0x43cb6082364a20ccu},
    {4, 4, 0x71e86a17ceb30d16u, 0x3bb49887dc6d30du},   {3, 3, 0x15a23272624f4bddu, 0xabfacf7c753c734eu},
    {4, 4, 0x596858b37ef48f2u, 0x3c11d0b9b51609f1u},   {4, 4, 0x66fd8c44fb79ec26u, 0xdc8ab1318cde5b56u},
    {2, 3, 0x5fc1b1fb781b3185u, 0x48174109af35247du},  {4, 4, 0x4d0e283f7d0ad1bdu, 0x5be29c309d19dbf2u},
    {4, 4, 0x37c78da40b4ee7d5u, 0xd07c71f15752507du},  {2, 3, 0x1486334bb5a1d135u, 0xc43bfe60280af142u},
    {4, 4, 0xa4b1dec1cf299b4du, 0xf84490587d1eb96au},  {4, 4, 0xa4b1dec1cf299b4du, 0xf84490587d1eb96au},
    {2, 2, 0x630f7ac110fe3a55u, 0x607229531121c09u},   {2, 2, 0x630f7ac110fe3a55u, 0x607229531121c09u},
    {2, 2, 0x630f7ac110fe3a55u, 0x607229531121c09u},   {2, 2, 0xea742fd987a66a15u, 0xf0c8a6f247ec0989u},
    {2, 2, 0xea742fd987a66a15u, 0xf0c8a6f247ec0989u},  {2, 2, 0xea742fd987a66a15u, 0xf0c8a6f247ec0989u},
    {1, 2, 0x308cd92528a9bf25u, 0xd80568fbb864be19u},  {2, 2, 0x1196c96409340199u, 0x60b79cf282b8e0edu},
    {2, 2, 0x1196c96409340199u, 0x60b79cf282b8e0edu},  {1, 2, 0x3932d794a895e0f5u, 0xe05c0f8f8fd78cb9u},
    {2, 2, 0xaa87cf579c8ef18du, 0xb8f52ff5518672adu},  {2, 2, 0xaa87cf579c8ef18du, 0xb8f52ff5518672adu},
    {1, 1, 0x519ab73a1e572c5du, 0xb2b6e8a92ae62a0du},  {2, 2, 0xe1183be96bac069du, 0x6e4a06b3cc945626u},
    {2, 2, 0x95c66f4421cfb0d8u, 0xfd84c2a41780979cu},  {1, 1, 0x2071f5361337345du, 0x98865121f7af9fcdu},
    {2, 2, 0x84044ab41cfbc062u, 0x336f0b81ebdfc552u},  {2, 2, 0x5a629add3726b2eeu, 0xa8280f1b7cc05d1eu},
    {1, 1, 0x61d8e32d3bfb7d65u, 0x64cf0ca494715d79u},  {2, 2, 0x311b52b5248b8655u, 0x82a3790af2c36b31u},
    {2, 2, 0x35f3df257384887du, 0x8e058df880f70c9u},   {1, 1, 0xf035932df62195a5u, 0x85c0736d26e48c7du},
    {2, 2, 0x5c5390ec2d79c2cdu, 0xc8bb998a7005875du},  {2, 2, 0x5c5390ec2d79c2cdu, 0xc8bb998a7005875du},
    {7, 3, 0xda7fe086587b0da5u, 0x1ece637ace1ef1b5u},  {10, 4, 0xbff526f07c09bff5u, 0x6a8fe4170ffa322au},
    {10, 4, 0xe4ecc4b32ccddd95u, 0xd97b7b6416bdbd1au}, {7, 3, 0x8f70a8d3d6876c1du, 0x346e857442a4f105u},
    {10, 4, 0xba6b3b9e38646da5u, 0xc9515531438635edu}, {10, 4, 0xf382ff4be73e9885u, 0xc20c980e20fc0661u},
    {4, 3, 0x940c141a545169a5u, 0xafa127065941cec1u},  {10, 4, 0xb7a07a7a3637053du, 0x3b2f921e8d0da7fdu},
    {10, 4, 0x6ba517a56b125c25u, 0x55343d268a149b71u}, {4, 3, 0xea8140decf305d45u, 0x6f421e9007608e65u},
    {10, 4, 0x729a19e69f1540bdu, 0x7b448c8a7f313f3du}, {10, 4, 0x729a19e69f1540bdu, 0x7b448c8a7f313f3du},
    {2, 5, 0x70261817528db15u, 0xd11b59cf03000405u},   {2, 5, 0x70261817528db15u, 0xd11b59cf03000405u},
    {2, 5, 0x70261817528db15u, 0xd11b59cf03000405u},   {2, 4, 0xb59b99f349ecbc05u, 0xb490b58940f928f5u},
    {2, 5, 0xcbfdccf87b18b1a5u, 0x135cc2af8b3c7525u},  {2, 5, 0x6763adda7a9bc715u, 0xf66d40484b3d2985u},
    {1, 5, 0xc169355b4f79bcc5u, 0x3d7cd9faf0a61c1u},   {2, 5, 0xff8a943f790c475u, 0xc5a0dc9195790cd5u},
    {2, 5, 0x92a83bedc1e77785u, 0xc956aa64f9a8a1c5u},  {1, 4, 0x884abb318d07d5c5u, 0x22de1b2fc883901du},
    {2, 5, 0xc57f4d424713586du, 0x238d36497925b29du},  {2, 5, 0x232d33b587dd7e4du, 0xe3980941582d335u}};

const Dims sizes[] = {{2, 2}, {3, 3}, {4, 4}, {1, 3}, {4, 2}};
const Dims strides[] = {{3, 3}, {5, 5}, {9, 9}, {1, 3}, {6, 2}};
const Dims rates[] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}};
const openvino::AutoPad pads[] = {openvino::AutoPad::valid, openvino::AutoPad::same_lower, openvino::AutoPad::same_upper};

TEST(OpenvinoExtractImagePatchesCpu, Grid) {
  const auto* row = expected;
  for (const auto& size : sizes)
    for (const auto& stride : strides)
      for (const auto& rate : rates)
        for (const auto pad : pads) {
          SCOPED_TRACE("sizes " + to_string(size) + " strides " + to_string(stride) + " rates " + to_string(rate));
          const openvino::ExtractImagePatches op = {size, stride, rate, pad};
          const auto taps = size[0] * size[1];
          expect_fingerprint(op, {1, 1, 10, 10}, {1, taps, row->rows, row->columns}, row->one_channel);
          expect_fingerprint(op, {1, 3, 10, 10}, {1, 3 * taps, row->rows, row->columns}, row->three_channels);
          ++row;
        }
  EXPECT_EQ(row, std::end(expected));
}

}  // namespace
}  // namespace patchfold::vectors
