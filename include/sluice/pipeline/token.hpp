// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What a try-wait answers, to be handed to the blocking call that follows. A producer's token and a
// consumer's are different types, so that one cannot be used for the other.
#pragma once

#include "sluice/arch/config.hpp"

namespace sluice {

/// Has the phase completed?
enum class BarrierStatus : uint32_t { WaitAgain = 0u, WaitDone = 1u };

/// The answer of a try-wait. Has no default value: it exists only after asking.
class ArrivalToken {
 public:
  ArrivalToken() = delete;
  SLUICE_HOST_DEVICE ArrivalToken(BarrierStatus status) : status_(status) {}

  SLUICE_HOST_DEVICE BarrierStatus get() const { return status_; }

  SLUICE_HOST_DEVICE bool operator==(ArrivalToken const& other) const { return status_ == other.status_; }

  SLUICE_HOST_DEVICE friend bool operator==(ArrivalToken const& token, BarrierStatus const& status) {
    return token.status_ == status;
  }
  SLUICE_HOST_DEVICE friend bool operator==(BarrierStatus const& status, ArrivalToken const& token) {
    return token.status_ == status;
  }
  SLUICE_HOST_DEVICE friend bool operator!=(ArrivalToken const& token, BarrierStatus const& status) {
    return token.status_ != status;
  }
  SLUICE_HOST_DEVICE friend bool operator!=(BarrierStatus const& status, ArrivalToken const& token) {
    return token.status_ != status;
  }

 private:
  BarrierStatus status_;
};

/// Answers producer_try_acquire; for producer_acquire.
class ProducerToken : public ArrivalToken {
  using ArrivalToken::ArrivalToken;
};

/// Answers consumer_try_wait and consumer_test_wait; for consumer_wait.
class ConsumerToken : public ArrivalToken {
  using ArrivalToken::ArrivalToken;
};

}  // namespace sluice
