"""CUDA kernels for documents in CSR format, as source, each beside the numpy line it equals.

``LANES`` is 4, 8, 16 or 32: as many columns a group of threads has.  A warp of 32 threads is
``GROUPS`` such groups, each with an entry of its own.  More columns than 32 are in tiles, by
``blockIdx.y``.  ``REAL`` is the type of products.  Every sum is taken in an order that is written
here, never by atomic additions: the same documents give the same bits.
"""

MOMENTS = r"""
typedef long long i64;
#define GROUPS (32 / LANES)
#define ALL 0xffffffffu

__device__ double sum_of_groups(double x) {  // of the lanes that have the same column
    for (int step = 16; step >= LANES; step /= 2) x += __shfl_xor_sync(ALL, x, step);
    return x;
}

// table[d] = w, c1, c2, c3 of the documents first + d; 0 for those beside [start, stop)
extern "C" __global__ void weights(
    const double* lengths, i64 first, i64 n, i64 start, i64 stop, double half, double* table
) {
    i64 d = blockIdx.x * (i64)blockDim.x + threadIdx.x;
    if (d >= n) return;
    double m = lengths[first + d], *t = table + 4 * d;
    if (m < 3 || first + d < start || first + d >= stop) m = 0;
    double c1 = m > 0 ? 1 / (m + half) : 0, c2 = m > 0 ? c1 / (m - 1) : 0;
    t[0] = c1 * m; t[1] = c1; t[2] = c2; t[3] = m > 0 ? c2 / (m - 2) : 0;
}

// what word sums gather, of y: c1, c1 y, c2, c2 if order is 1; c2, c2 y, c3, 0 if it is 2
extern "C" __global__ void word_table(
    const double* table, const double* y, i64 first, i64 n, i64 start, i64 stop, i64 order,
    double* of_word
) {
    i64 d = blockIdx.x * (i64)blockDim.x + threadIdx.x;
    if (d >= n) return;
    const double* t = table + 4 * d;
    double *o = of_word + 4 * d, c = t[order];
    o[0] = c;
    o[1] = first + d >= start && first + d < stop ? c * y[first + d - start] : 0;
    o[2] = t[order + 1];
    o[3] = order == 1 ? t[2] : 0;
}

// p = X @ S; P[d] = p if it is wanted; R[d] = table[d, order] * p.  A warp for each document.
extern "C" __global__ void project(
    const i64* indptr, const int* words, const unsigned* counts, i64 first, i64 n,
    const float* S, i64 width, const double* table, i64 order, i64 padded, double* P, REAL* R
) {
    i64 d = (blockIdx.x * (i64)blockDim.x + threadIdx.x) / 32;
    if (d >= n) return;
    int lane = threadIdx.x % 32, group = lane / LANES, column = lane % LANES + 32 * blockIdx.y;
    i64 stop = indptr[first + d + 1];
    bool inside = column < width;
    double sum = 0;
    for (i64 j = indptr[first + d]; j < stop; j += 32) {
        int word = 0; float count = 0;
        if (j + lane < stop) { word = words[j + lane]; count = counts[j + lane]; }
        float part = 0;
        #pragma unroll 8
        for (int t = 0; t < LANES && j + t * GROUPS < stop; t++) {
            i64 w = __shfl_sync(ALL, word, t * GROUPS + group);
            float x = __shfl_sync(ALL, count, t * GROUPS + group);
            if (inside) part += x * S[w * width + column];
        }
        sum += part;
    }
    sum = sum_of_groups(sum);
    if (group) return;
    if (column < padded) R[d * padded + column] = (REAL)(table[4 * d + order] * sum);
    if (P && inside) P[d * width + column] = sum;
}

// partial[c] = counts @ R[docs] over the entries of one word from begin[c] to end[c]: the rows of
// a transposed product.  The fourth column counts n (n - 1) if SQUARES.  A warp for each c.
extern "C" __global__ void gather(
    const i64* begin, const i64* end, i64 n, const unsigned short* docs, const float* counts,
    const REAL* R, i64 padded, double* partial
) {
    i64 c = (blockIdx.x * (i64)blockDim.x + threadIdx.x) / 32;
    if (c >= n) return;
    int lane = threadIdx.x % 32, group = lane / LANES, column = lane % LANES + 32 * blockIdx.y;
    i64 stop = end[c];
    double sum = 0;
    for (i64 j = begin[c]; j < stop; j += 32) {
        int doc = 0; float count = 0;
        if (j + lane < stop) { doc = docs[j + lane]; count = counts[j + lane]; }
        REAL part = 0;
        #pragma unroll
        for (int t = 0; t < LANES; t++) {
            i64 d = __shfl_sync(ALL, doc, t * GROUPS + group);
            REAL x = __shfl_sync(ALL, count, t * GROUPS + group);
            if (SQUARES && column == 3) x *= x - 1;
            part += x * R[d * padded + column];
        }
        sum += part;
    }
    sum = sum_of_groups(sum);
    if (!group) partial[c * padded + column] = sum;
}

// out[w] += partial[chunks[w] : chunks[w + 1]].sum(axis=0).  A block of threads for each word.
extern "C" __global__ void reduce(
    const i64* chunks, const double* partial, i64 padded, i64 width, double* out
) {
    __shared__ double sums[256];
    i64 w = blockIdx.x;
    int column = threadIdx.x % LANES, row = threadIdx.x / LANES, rows = blockDim.x / LANES;
    int place = column + 32 * blockIdx.y;
    double sum = 0;
    for (i64 c = chunks[w] + row; c < chunks[w + 1]; c += rows) sum += partial[c * padded + place];
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (row || place >= width || chunks[w] == chunks[w + 1]) return;
    for (int r = 1; r < rows; r++) sum += sums[r * LANES + column];
    out[w * width + place] += sum;
}

// expected counts of one word over the documents that have it, as gather, with C what a document
// has of each topic: partial[c] = sum of n mu[w] C[d] / (mu[w] . C[d])
extern "C" __global__ void gather_expected(
    const i64* begin, const i64* end, const int* word_of, i64 n, const unsigned short* docs,
    const float* counts, const double* C, const double* mu, i64 k, const double* lengths,
    double burstiness, double burst_words, i64 padded, double* partial
) {
    i64 c = (blockIdx.x * (i64)blockDim.x + threadIdx.x) / 32;
    if (c >= n) return;
    int lane = threadIdx.x % 32;
    i64 w = word_of[c];
    double sums[TILES] = {0};
    for (i64 j = begin[c]; j < end[c]; j++) {
        i64 d = docs[j];
        double norm = 0, x = counts[j], joint[TILES];
        #pragma unroll
        for (int tile = 0; tile < TILES; tile++) {
            int i = 32 * tile + lane;
            joint[tile] = i < k ? mu[w * k + i] * C[d * k + i] : 0;
            norm += joint[tile];
        }
        for (int step = 16; step; step /= 2) norm += __shfl_xor_sync(ALL, norm, step);
        if (norm <= 0) continue;
        if (burstiness != 0) {
            double joined = fmax(lengths[d] / burst_words, 1.0);
            x /= 1 + burstiness * fmax(x / joined - 1, 0.0);
        }
        #pragma unroll
        for (int tile = 0; tile < TILES; tile++) sums[tile] += x / norm * joint[tile];
    }
    for (int tile = 0; 32 * tile + lane < k; tile++)
        partial[c * padded + 32 * tile + lane] = sums[tile];
}

// Z[b, pair, d] = w P_i P_j of document d of part b, for i <= j, ``size`` documents to a part; and
// their coordinates likewise, columns[b, i, d]
extern "C" __global__ void pair_columns(
    const double* P, const double* w, const int* left, const int* right, i64 n_pairs, i64 width,
    i64 n, i64 size, float* Z, float* columns
) {
    i64 d = blockIdx.x * (i64)blockDim.x + threadIdx.x, b = blockIdx.y, row = b * size + d;
    if (d >= size) return;
    float *own = columns + b * width * size + d, *pairs = Z + b * n_pairs * size + d;
    bool is = row < n;
    for (i64 i = 0; i < width; i++) own[i * size] = is ? (float)P[row * width + i] : 0.0f;
    float weight = is ? (float)w[row] : 0.0f;
    for (i64 t = 0; t < n_pairs; t++)
        pairs[t * size] = weight * own[left[t] * size] * own[right[t] * size];
}
"""

LAYOUT = r"""
typedef long long i64;
#define ALL 0xffffffffu

// lengths = X.sum(axis=1); wrong[0] counts documents whose words do not rise.  A warp for each.
extern "C" __global__ void lengths(
    const i64* indptr, const int* words, const unsigned* counts, i64 n, double* out, unsigned* wrong
) {
    i64 d = (blockIdx.x * (i64)blockDim.x + threadIdx.x) / 32;
    if (d >= n) return;
    int lane = threadIdx.x % 32;
    double sum = 0; bool falls = false;
    for (i64 j = indptr[d] + lane; j < indptr[d + 1]; j += 32) {
        sum += counts[j];
        falls |= j > indptr[d] && words[j] <= words[j - 1];
    }
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(ALL, sum, step);
    if (lane == 0) out[d] = sum;
    if (falls) atomicAdd(wrong, 1u);
}

__device__ unsigned long long scramble(unsigned long long x) {  // splitmix64, as kernels.random
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

// kernels.keys.document_keys.  A warp for each document.
extern "C" __global__ void document_keys(
    const i64* indptr, const int* words, const unsigned* counts, i64 n, unsigned long long* keys
) {
    const unsigned long long golden = 0x9E3779B97F4A7C15ull;
    i64 d = (blockIdx.x * (i64)blockDim.x + threadIdx.x) / 32;
    if (d >= n) return;
    unsigned long long total = 0;
    for (i64 j = indptr[d] + threadIdx.x % 32; j < indptr[d + 1]; j += 32)
        if (counts[j])
            total += scramble((words[j] + 1ull) * golden ^ scramble(counts[j] * golden));
    for (int step = 16; step; step /= 2) total += __shfl_xor_sync(ALL, total, step);
    if (threadIdx.x % 32 == 0) keys[d] = scramble(total);
}

// the entries of some documents, one after the other.  A warp for each document.
extern "C" __global__ void take(
    const i64* indptr, const int* words, const unsigned* counts, const i64* which,
    const i64* starts, i64 n, int* taken_words, unsigned* taken_counts
) {
    i64 d = (blockIdx.x * (i64)blockDim.x + threadIdx.x) / 32;
    if (d >= n) return;
    i64 from = indptr[which[d]], size = indptr[which[d] + 1] - from;
    for (i64 j = threadIdx.x % 32; j < size; j += 32) {
        taken_words[starts[d] + j] = words[from + j];
        taken_counts[starts[d] + j] = counts[from + j];
    }
}

// which document of the block each entry is of
extern "C" __global__ void owners(const i64* indptr, i64 first, i64 n, unsigned short* owner) {
    i64 d = (blockIdx.x * (i64)blockDim.x + threadIdx.x) / 32;
    if (d >= n) return;
    for (i64 j = indptr[first + d] + threadIdx.x % 32; j < indptr[first + d + 1]; j += 32)
        owner[j - indptr[first]] = (unsigned short)d;
}

// where the pieces of each word's entries begin and end, ``size`` entries to a piece
extern "C" __global__ void pieces(
    const i64* entries, const i64* chunks, i64 n_words, i64 size, i64* begin, i64* end, int* word_of
) {
    i64 w = blockIdx.x * (i64)blockDim.x + threadIdx.x;
    if (w >= n_words) return;
    for (i64 c = chunks[w], j = entries[w]; c < chunks[w + 1]; c++, j += size) {
        begin[c] = j; end[c] = min(j + size, entries[w + 1]); word_of[c] = (int)w;
    }
}
"""

INFERENCE = r"""
typedef long long i64;

__device__ double evidence(double n, double length, double burstiness, double burst_words) {
    double joined = fmax(length / burst_words, 1.0);  // as inference.weighed
    return burstiness == 0 ? n : n / (1 + burstiness * fmax(n / joined - 1, 0.0));
}

// kernels.propagation._sweep_all for each of some documents, one thread to each.  Sites of a
// document lie ``stride`` numbers apart, beside those of its neighbours, which read at once.
extern "C" __global__ void propagate(
    const i64* indptr, const int* words, const unsigned* counts, const double* lengths,
    double burstiness, double burst_words, const i64* which, i64 n, const double* mu,
    const double* alpha, double damping, i64 full_steps, i64 sweeps, double tolerance,
    double max_blocked, double max_decrease, double* sites, i64 stride, double* out,
    unsigned char* converged
) {
    i64 t = blockIdx.x * (i64)blockDim.x + threadIdx.x;
    if (t >= n) return;
    i64 d = which[t], start = indptr[d], m = indptr[d + 1] - start;
    double g[K], c[K], r[K], length = 0;
    for (int i = 0; i < K; i++) g[i] = alpha[i];
    for (i64 j = 0; j < m; j++)
        length += evidence(counts[start + j], lengths[d], burstiness, burst_words);
    bool done = false;
    for (i64 sweep = 0; sweep < sweeps; sweep++) {
        double share = damping, moved = 0, blocked = 0;
        if (sweep >= full_steps) share = share * full_steps / sweep;
        for (i64 j = 0; j < m; j++) {
            double x = evidence(counts[start + j], lengths[d], burstiness, burst_words);
            const double* mu_w = mu + (i64)words[start + j] * K;
            double* site = sites + j * K * stride + t;
            double c0 = 1, norm = 0, least = 0;
            for (int i = 0; i < K; i++) {
                double s = sweep ? site[i * stride] : 0.0;
                c[i] = g[i] - s;
                r[i] = mu_w[i] * c[i];
                c0 += c[i]; norm += r[i]; least = fmin(least, c[i]);
            }
            if (x > 0 && least < 0) { blocked += x; continue; }
            if (x <= 0 || norm <= 0) {
                if (!sweep) for (int i = 0; i < K; i++) site[i * stride] = 0;
                continue;
            }
            double scale = 1 / norm, u0 = 0, r0 = 0, pairs = 0, own = 0;
            for (int i = 0; i < K; i++) {
                r[i] *= scale;
                double u = c[i] + r[i];
                pairs += u * u0; own += r[i] * r0;
                u0 += u; r0 += r[i];
            }
            double less = own > 0 ? (u0 + 1) * own / (pairs + u0 * own) : 0.0;
            double step = share * x, far = 0;
            for (int i = 0; i < K; i++) {
                double old = sweep ? site[i * stride] : 0.0;
                c[i] = r[i] - less * (c[i] + r[i]) - old;
                r[i] = old;
                far = fmax(far, fabs(c[i]));
                if (step * c[i] < -max_decrease * g[i]) step = -max_decrease * g[i] / c[i];
            }
            double part = step / x;
            for (int i = 0; i < K; i++) {
                site[i * stride] = r[i] + part * c[i];
                g[i] += step * c[i];
            }
            moved = fmax(moved, damping * x * far / c0);
        }
        bool few = blocked <= max_blocked * length;
        if (moved < tolerance || (!few && sweep >= 2 * full_steps)) { done = few; break; }
    }
    for (int i = 0; i < K; i++) out[t * K + i] = g[i];
    converged[t] = done;
}

__device__ double exp_digamma(double x) {  // as kernels.fold_in.exp_digamma
    double below = 0;
    for (; x < 6; x += 1) below += 1 / x;
    double f = 1 / (x * x);
    double series = f * (1.0 / 12 - f * (1.0 / 120 - f * (1.0 / 252 - f * (1.0 / 240 - f / 132))));
    return x * exp(-0.5 / x - series - below);
}

// kernels.fold_in.assign of the documents first + t, one thread to each: C is what it ends with
// before the last sweep, by which its words have topics, and share[t] = (alpha + z) / their sum
extern "C" __global__ void assign(
    const i64* indptr, const int* words, const unsigned* counts, const double* lengths,
    double burstiness, double burst_words, i64 first, i64 n, i64 start_row, i64 stop_row,
    const double* mu, const double* alpha, i64 sweeps, double* C, double* share
) {
    i64 t = blockIdx.x * (i64)blockDim.x + threadIdx.x;
    if (t >= n) return;
    i64 d = first + t, start = indptr[d], stop = indptr[d + 1];
    double c[K], z[K];
    if (d < start_row || d >= stop_row) {
        for (int i = 0; i < K; i++) C[t * K + i] = share[t * K + i] = 0;
        return;
    }
    for (int i = 0; i < K; i++) z[i] = 0;
    for (i64 sweep = 0; sweep < sweeps; sweep++) {
        for (int i = 0; i < K; i++) {
            c[i] = sweep ? exp_digamma(alpha[i] + z[i]) : alpha[i];
            z[i] = 0;
        }
        for (i64 j = start; j < stop; j++) {
            const double* mu_w = mu + (i64)words[j] * K;
            double norm = 0;
            for (int i = 0; i < K; i++) norm += mu_w[i] * c[i];
            if (norm <= 0) continue;
            double scale = evidence(counts[j], lengths[d], burstiness, burst_words) / norm;
            for (int i = 0; i < K; i++) z[i] += scale * (mu_w[i] * c[i]);
        }
    }
    double total = 0;
    for (int i = 0; i < K; i++) total += alpha[i] + z[i];
    for (int i = 0; i < K; i++) C[t * K + i] = c[i];
    for (int i = 0; i < K; i++) share[t * K + i] = (alpha[i] + z[i]) / total;
}
"""
